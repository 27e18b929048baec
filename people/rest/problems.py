"""Errors as problem details (RFC 9457), `application/problem+json`, in words for people."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, PermissionDenied, ValidationError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler, set_rollback

CONTENT_TYPE = "application/problem+json"

# Errors of services that mean "not now, not like this": their message says why and what to do.
_refusals: list[type[Exception]] = []


def tell_as_conflict(error: type[Exception]) -> None:
    """Answer this error of a service as 409 with its message."""
    _refusals.append(error)


def problem(status: int, detail: str, **more: Any) -> Response:
    title = HTTPStatus(status).phrase
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail, **more}
    return Response(body, status=status, content_type=CONTENT_TYPE)


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """The answer for an error; None for what is a fault of ours."""
    answer = _own(error)
    if answer is not None:
        set_rollback()
        return answer
    usual = exception_handler(error, context)
    if usual is None:
        return None
    told = problem(usual.status_code, *_words(error))
    for name in ("WWW-Authenticate", "Retry-After", "Allow"):
        if name in usual.headers:
            told[name] = usual.headers[name]
    return told


def _own(error: Exception) -> Response | None:
    if isinstance(error, tuple(_refusals)):
        return problem(HTTPStatus.CONFLICT, str(error))
    if isinstance(error, ValidationError):
        fields = by_field(error)
        return problem(HTTPStatus.UNPROCESSABLE_ENTITY, _sentence(fields), errors=fields)
    if isinstance(error, exceptions.ValidationError):
        fields = _plain(error.detail)
        return problem(HTTPStatus.BAD_REQUEST, _sentence(fields), errors=fields)
    return None


def _words(error: Exception) -> tuple[str]:
    if isinstance(error, Http404):
        return ("There is no such thing here.",)
    if isinstance(error, PermissionDenied):
        return (str(error) or "You may not do this.",)
    return (str(getattr(error, "detail", error)),)


def by_field(error: ValidationError) -> dict[str, list[str]]:
    """A service's refusal by field; what belongs to none is under an empty name."""
    if hasattr(error, "error_dict"):
        named = error.message_dict
        return {"" if name == NON_FIELD_ERRORS else name: said for name, said in named.items()}
    return {"": error.messages}


def _plain(detail: Any, name: str = "") -> dict[str, list[str]]:
    """Nested serializer errors flattened: `endpoint.layer`."""
    if isinstance(detail, dict):
        found: dict[str, list[str]] = {}
        for key, value in detail.items():
            part = "" if key == "non_field_errors" else str(key)
            found |= _plain(value, ".".join(filter(None, (name, part))))
        return found
    return {name: [str(entry) for entry in detail] if isinstance(detail, list) else [str(detail)]}


def _sentence(fields: dict[str, list[str]]) -> str:
    parts = [
        f"{name}: {' '.join(said)}" if name else " ".join(said) for name, said in fields.items()
    ]
    return " ".join(parts)
