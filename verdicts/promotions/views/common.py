"""What the pages of promotions share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from django.core.exceptions import ValidationError
from django.shortcuts import get_object_or_404

from catalog.models import Deployment
from verdicts.promotions.refusals import PromotionRefused

Made = TypeVar("Made")


def attempt(do: Callable[[], Made]) -> tuple[Made | None, str]:
    """What a service gave, or why it refused. PermissionDenied is a page of its own."""
    try:
        return do(), ""
    except PromotionRefused as refused:
        return None, str(refused)
    except ValidationError as wrong:
        return None, " ".join(wrong.messages)


def deployment_named(slug: str) -> Deployment:
    return get_object_or_404(
        Deployment.objects.select_related("artifact", "runtime", "host"), slug=slug
    )
