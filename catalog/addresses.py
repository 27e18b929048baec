"""Addresses people type: which are usable, and why others are not."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.core.exceptions import ValidationError


def validate_address(text: str) -> None:
    """Raise ValidationError unless it is a plain http(s) address, such as http://mac:8080/v1.

    Names without a dot are fine: this is about machines of a lab.
    """
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # a port out of range, a broken IPv6 address
        usable = False
    if not usable or any(character.isspace() for character in text):
        raise ValidationError(
            "Give an address such as http://127.0.0.1:8080 or http://mac:8080/v1."
        )
    if parts.username or parts.password:
        raise ValidationError("No names or passwords in the address: they would be stored.")
    if parts.query or parts.fragment:
        raise ValidationError("The address ends with the path: leave out what follows ? or #.")
