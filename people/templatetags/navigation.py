"""The main navigation: sections in order, each shown once its page exists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import template
from django.urls import NoReverseMatch, reverse

register = template.Library()


@dataclass(frozen=True, slots=True)
class Section:
    """`name` is the URL name; `prefixes` are further addresses that belong to the section."""

    name: str
    title: str
    icon: str
    prefixes: tuple[str, ...] = ()


SECTIONS = (
    Section("inventory", "Inventory", "inventory", ("/deployments/", "/search/")),
    Section("run-list", "Runs", "runs", ("/compare/", "/suites/")),
    Section("sweep-list", "Sweeps", "sweeps"),
    Section("campaign-list", "Campaigns", "campaigns", ("/traffic/",)),
    Section("promotion-list", "Promotions", "promotions", ("/policies/",)),
    Section("ledger-list", "Ledger", "ledger"),
    Section("hosts", "Hosts", "hosts", ("/launch-profiles/", "/launches/")),
    Section("claims", "Claims", "claims"),
    Section("follow-ups", "Follow-ups", "follow-ups"),
)


@register.inclusion_tag("components/navigation.html", takes_context=True)
def navigation(context: dict[str, Any]) -> dict[str, Any]:
    """The sections with their addresses; the one of this page is marked."""
    path = context["request"].path
    items = [(section, address(section.name)) for section in SECTIONS]
    return {
        "items": [
            {"section": section, "url": url, "is_current": belongs(path, url, section.prefixes)}
            for section, url in items
            if url
        ]
    }


@register.simple_tag
def address(name: str) -> str:
    """The address of a page, or nothing where there is no such page."""
    try:
        return reverse(name)
    except NoReverseMatch:
        return ""


def belongs(path: str, url: str, prefixes: tuple[str, ...]) -> bool:
    """The home page holds itself only; every other section also what is below it."""
    return path == url or path.startswith(tuple(p for p in (url, *prefixes) if p != "/"))
