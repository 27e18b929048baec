"""REST: one's inbox and subscriptions, the admins' webhooks, and what a webhook sends."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiWebhook, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.models import Deployment
from people.access import Action, require
from people.rest.idempotency import HEADER, idempotent
from people.rest.views import ListResource
from verdicts.notifications import services
from verdicts.notifications.models import InboxItem, Kind, Subscription, Webhook


class NotificationData(serializers.ModelSerializer):
    kind = serializers.CharField(source="notice.kind", read_only=True)
    title = serializers.CharField(source="notice.title", read_only=True)
    text = serializers.CharField(source="notice.text", read_only=True)
    path = serializers.CharField(source="notice.path", read_only=True)
    deployment = serializers.SlugRelatedField(
        "slug", source="notice.deployment", read_only=True, allow_null=True
    )
    created_at = serializers.DateTimeField(source="notice.created_at", read_only=True)

    class Meta:
        model = InboxItem
        fields = ("id", "kind", "title", "text", "path", "deployment", "created_at", "read_at")


class SubscriptionData(serializers.ModelSerializer):
    deployment = serializers.SlugRelatedField("slug", read_only=True, allow_null=True)

    class Meta:
        model = Subscription
        fields = ("id", "kind", "deployment")


class SubscriptionInput(serializers.Serializer):
    """Exactly these kinds from now on, of one deployment or (left out) of all."""

    kinds: Any = serializers.ListField(child=serializers.ChoiceField(Kind.choices), max_length=20)
    deployment = serializers.SlugField(max_length=120, required=False)


class WebhookData(serializers.ModelSerializer):
    deployment = serializers.SlugRelatedField("slug", read_only=True, allow_null=True)
    kinds: Any = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = Webhook
        fields = ("id", "name", "url", "secret_env", "kinds", "deployment", "is_active")


class WebhookInput(SubscriptionInput):
    """`secret_env` is the NAME of an environment variable."""

    name = serializers.CharField(max_length=80)
    url = serializers.CharField(max_length=300)
    secret_env = serializers.CharField(max_length=80)


class NoticeSent(serializers.Serializer):
    text = serializers.CharField(help_text="what Slack and Mattermost show")
    event = serializers.ChoiceField(Kind.choices)
    id = serializers.IntegerField()
    at = serializers.DateTimeField()
    title = serializers.CharField()
    detail = serializers.CharField()
    deployment = serializers.CharField(allow_null=True)
    url = serializers.CharField()


notice_webhook = OpenApiWebhook(
    name="notice",
    decorator=extend_schema(
        summary="Something happened",
        description="Signed in the header Cleanpass-Signature: `t=<Unix seconds>,v1=<hex>`, the "
        'HMAC-SHA256 of `"<t>." + body` with the secret. Answer with 2xx; anything else is tried '
        "again after 10 s, then four times as long each time. Refuse an old `t`.",
        request=NoticeSent,
        responses={200: None},
    ),
)


class Notifications(ListResource):
    """One's own inbox."""

    queryset = InboxItem.objects.all()
    serializer_class = NotificationData
    filterset_fields = {"notice__kind": ["exact"], "read_at": ["isnull"]}

    def get_queryset(self) -> QuerySet[InboxItem]:
        mine = InboxItem.objects.filter(user_id=self.request.user.pk)
        return mine.select_related("notice__deployment")

    @extend_schema(request=None, responses={204: None})
    @action(detail=True, methods=["post"])
    def read(self, request: Request, pk: str) -> Response:
        """Mark one as read."""
        services.mark_read(actor=request.user, item_id=self.get_object().pk)
        return Response(status=204)


class Subscriptions(ListResource):
    """What one is told."""

    queryset = Subscription.objects.all()
    serializer_class = SubscriptionData

    def get_queryset(self) -> QuerySet[Subscription]:
        mine = Subscription.objects.filter(user_id=self.request.user.pk)
        return mine.select_related("deployment")

    @extend_schema(request=SubscriptionInput, responses=SubscriptionData(many=True))
    def create(self, request: Request) -> Response:
        """Replace the choice."""
        services.subscribe(actor=request.user, **found(self.asked(SubscriptionInput)))
        return Response(SubscriptionData(self.get_queryset(), many=True).data)


class Webhooks(ListResource):
    """Where notices are sent. Admins only."""

    queryset = Webhook.objects.select_related("deployment")
    serializer_class = WebhookData

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        require(request.user, Action.EDIT_WEBHOOK)
        return super().list(request, *args, **kwargs)

    @extend_schema(request=WebhookInput, responses={201: WebhookData}, parameters=[HEADER])
    @idempotent
    def create(self, request: Request) -> Response:
        """Register a webhook."""
        made = services.add_webhook(actor=request.user, **found(self.asked(WebhookInput)))
        return Response(WebhookData(made).data, status=201)


def found(given: dict[str, Any]) -> dict[str, Any]:
    """The deployment itself instead of its slug. Raises Http404."""
    slug = given.pop("deployment", None)
    return {**given, "deployment": get_object_or_404(Deployment, slug=slug) if slug else None}
