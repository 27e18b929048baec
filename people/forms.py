"""Signing in, and making tokens."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm

from people.scopes import TITLES
from people.tokens import LONGEST_DAYS


class SignInForm(AuthenticationForm):
    """Django's own, in our words."""

    error_messages = {
        "invalid_login": "Name and password do not match. Both are case-sensitive.",
        "inactive": "This person is switched off. Ask an admin.",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].label = "Name"


class TokenForm(forms.Form):
    """A new token; reading is always among its scopes."""

    name = forms.CharField(max_length=80, help_text="what uses it, such as nightly probe")
    days = forms.IntegerField(
        label="Lasts", min_value=1, max_value=LONGEST_DAYS, initial=90, help_text="days"
    )
    scopes = forms.MultipleChoiceField(
        choices=[(scope.value, title) for scope, title in TITLES.items()],
        widget=forms.CheckboxSelectMultiple,
        initial=["read"],
        help_text="never more than your own role allows",
    )
