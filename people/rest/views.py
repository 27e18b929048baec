"""Bases of the API's views."""

from __future__ import annotations

from typing import Any

from rest_framework import mixins
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.serializers import Serializer
from rest_framework.viewsets import GenericViewSet

NUMBER = r"[0-9]{1,18}"
SLUG = r"[-a-zA-Z0-9_]{1,120}"


class Resource(GenericViewSet):
    """Its writes call the same services as the browser's pages."""

    lookup_value_regex = NUMBER

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """No database takes a NUL character, so no filter may hold one."""
        super().initial(request, *args, **kwargs)
        if any("\x00" in value for values in request.GET.lists() for value in values[1]):
            raise ValidationError("A NUL character is in the address.")

    def asked(self, serializer: type[Serializer]) -> dict[str, Any]:
        """The body, checked. Raises the serializer's ValidationError."""
        given = serializer(data=self.request.data)
        given.is_valid(raise_exception=True)
        return dict(given.validated_data)


class ListResource(mixins.ListModelMixin, Resource):
    """A list only."""


class ReadResource(mixins.RetrieveModelMixin, ListResource):
    """A list and one of it."""
