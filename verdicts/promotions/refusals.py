"""Why something about a promotion is not done: words for people, and what to do instead."""

from __future__ import annotations


class PromotionRefused(Exception):
    """The message says what is missing and what to do."""


class Stale(PromotionRefused):
    """What was reviewed is no longer what there is."""


class Superseded(PromotionRefused):
    """The primary of the role changed before this was done."""
