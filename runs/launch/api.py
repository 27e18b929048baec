"""REST: how servers can be started, and each time one was."""

from __future__ import annotations

from rest_framework import serializers

from people.rest.views import SLUG, ReadResource
from runs.launch.models import Launch, LaunchProfile


class ProfileData(serializers.ModelSerializer):
    """Without its program and arguments, which may name paths of a host."""

    runtime = serializers.SlugRelatedField("key", read_only=True)

    class Meta:
        model = LaunchProfile
        fields = (
            "key", "name", "runtime", "ready_s", "grace_s", "stop_signal", "memory_budget_mib",
            "by_hand", "note", "is_ready_made", "updated_at",
        )  # fmt: skip


class LaunchData(serializers.ModelSerializer):
    profile = serializers.SlugRelatedField("key", read_only=True)
    deployment = serializers.SlugRelatedField("slug", read_only=True)
    host = serializers.SlugRelatedField("key", read_only=True)

    class Meta:
        model = Launch
        fields = (
            "id", "profile", "deployment", "revision", "host", "state", "failure_class",
            "explanation", "load_ms", "started_at", "ended_at",
        )  # fmt: skip


class Profiles(ReadResource):
    """How each runtime can be started."""

    queryset = LaunchProfile.objects.select_related("runtime")
    serializer_class = ProfileData
    lookup_field = "key"
    lookup_value_regex = SLUG
    filterset_fields = {"runtime__key": ["exact"]}


class Launches(ReadResource):
    """Each start of a server by a worker."""

    queryset = Launch.objects.select_related("profile", "deployment", "host")
    serializer_class = LaunchData
    filterset_fields = {
        "profile__key": ["exact"],
        "deployment__slug": ["exact"],
        "state": ["exact"],
    }
