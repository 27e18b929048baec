"""REST: the ledger's entries, and whether its chain is whole."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from people.rest.views import ReadResource
from verdicts.ledger import services
from verdicts.ledger.filters import ApiEntryFilter
from verdicts.ledger.models import Entry, Verification


class EntryData(serializers.ModelSerializer):
    class Meta:
        model = Entry
        fields = (
            "seq", "kind", "at", "actor_name", "subject_kind", "subject_id", "title", "path",
            "payload", "content_digest", "previous_hash", "entry_hash",
        )  # fmt: skip


class VerificationData(serializers.ModelSerializer):
    is_whole: Any = serializers.BooleanField(read_only=True)

    class Meta:
        model = Verification
        fields = ("at", "entries", "head_hash", "is_whole", "broken_seq", "why")


class Ledger(ReadResource):
    """Who decided what on which evidence: append-only, chained by hash."""

    queryset = Entry.objects.all()
    serializer_class = EntryData
    lookup_field = "seq"
    filterset_class = ApiEntryFilter

    @extend_schema(responses=VerificationData, filters=False)
    @action(detail=False, pagination_class=None, filter_backends=[])
    def verification(self, request: Request) -> Response:
        """What the last reading of the whole chain found; 404 before the first."""
        return Response(VerificationData(last_verification()).data)

    @extend_schema(request=None, responses=VerificationData, filters=False)
    @action(detail=False, methods=["post"], pagination_class=None, filter_backends=[])
    def verify(self, request: Request) -> Response:
        """Read the whole chain now."""
        services.verify_now(actor=request.user)
        return Response(VerificationData(last_verification()).data)


def last_verification() -> Verification:
    found = Verification.objects.first()
    if found is None:
        raise NotFound("The chain was not verified yet.")
    return found
