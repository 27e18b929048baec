"""`Idempotency-Key`: the same start asked twice starts once and is answered the same."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from people.models import IdempotentAnswer
from people.rest.problems import problem

LONGEST_KEY = 100
KEPT = timedelta(days=7)
HEADER = OpenApiParameter(
    "Idempotency-Key",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="Yours to choose, up to 100 characters. The same key with the same body within "
    "a week is answered as the first time and starts nothing; with another body it is refused.",
)

Handler = Callable[..., Response]


def idempotent(handler: Handler) -> Handler:
    """The handler's effect and its stored answer are one transaction."""

    @functools.wraps(handler)
    def once(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        key = request.headers.get("Idempotency-Key", "")
        if not key:
            return handler(view, request, *args, **kwargs)
        if len(key) > LONGEST_KEY or not key.isprintable():
            raise ValidationError({"Idempotency-Key": "Up to 100 printable characters."})
        known = _known(request, key)
        if known is not None:
            return _again(known, _digest(request))
        try:
            with transaction.atomic():
                response = handler(view, request, *args, **kwargs)
                _keep(request, key, response)
        except IntegrityError:
            if _known(request, key) is None:
                raise
            return problem(409, "The same key was asked at the same moment. Ask again.")
        return response

    return once


def _known(request: Request, key: str) -> IdempotentAnswer | None:
    mine = IdempotentAnswer.objects.filter(user=request.user)
    mine.filter(created_at__lt=timezone.now() - KEPT).delete()
    return mine.filter(key=key).first()


def _again(known: IdempotentAnswer, digest: str) -> Response:
    if known.request_sha256 != digest:
        return problem(422, "This Idempotency-Key was used for another request. Choose a new key.")
    return Response(known.body, status=known.status, headers={"Idempotent-Replayed": "true"})


def _keep(request: Request, key: str, response: Response) -> None:
    body = json.loads(JSONRenderer().render(response.data))
    IdempotentAnswer.objects.create(
        user=request.user,
        key=key,
        request_sha256=_digest(request),
        status=response.status_code,
        body=body,
    )


def _digest(request: Request) -> str:
    asked = [request.method, request.path, request.data]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
