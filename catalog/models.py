"""What there is to qualify: model artifact x runtime x exact configuration, on a host.

Evidence belongs to a revision (an immutable configuration), never to a name.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models

from catalog.addresses import validate_address
from catalog.choices import Layer as Layer
from catalog.choices import Origin as Origin
from catalog.choices import Task as Task
from catalog.follow_ups.models import EntryKind as EntryKind
from catalog.follow_ups.models import FollowUp as FollowUp
from catalog.follow_ups.models import FollowUpEntry as FollowUpEntry


class Host(models.Model):
    """A machine that serves models. Its key also names the queue of its worker."""

    key = models.SlugField(unique=True)
    name = models.CharField(max_length=120)
    chip = models.CharField(max_length=120, blank=True)
    os = models.CharField(max_length=120, blank=True)
    memory_bytes = models.BigIntegerField(null=True, blank=True)
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.MANUAL)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def queue(self) -> str:
        return f"measure.{self.key}"


class Runtime(models.Model):
    """A serving program. Keys are those of the engine's adapters."""

    key = models.CharField(max_length=40, unique=True)
    name = models.CharField(max_length=120)
    formats = models.JSONField(default=list, blank=True)
    trap = models.TextField(blank=True)
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.MANUAL)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class RuntimeBuild(models.Model):
    """A runtime at one version; an empty version means that nobody recorded it."""

    runtime = models.ForeignKey(Runtime, on_delete=models.PROTECT, related_name="builds")
    version = models.CharField(max_length=120, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["runtime", "version"], name="one_row_per_build")
        ]

    def __str__(self) -> str:
        return f"{self.runtime} {self.version}".strip()


class Artifact(models.Model):
    """One exact model file or folder. A sibling quantization is another artifact."""

    name = models.CharField(max_length=200)
    family = models.CharField(max_length=120, blank=True)
    tune = models.CharField(max_length=120, blank=True)
    size_label = models.CharField(max_length=40, blank=True, help_text="as named, such as 35B A3B")
    format = models.CharField(max_length=40, blank=True)
    quantization = models.CharField(max_length=80, blank=True)
    task = models.CharField(max_length=12, choices=Task, default=Task.GENERATION)
    source = models.CharField(max_length=300, blank=True)
    file_name = models.CharField(max_length=300, blank=True)
    size_bytes = models.BigIntegerField(null=True, blank=True)
    digest_sha256 = models.CharField(max_length=64, blank=True)
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.MANUAL)
    note = models.TextField(blank=True)

    class Meta:
        ordering = ["name", "quantization"]

    def __str__(self) -> str:
        said = self.name.split()
        missing = [word for word in self.quantization.split() if word not in said]
        return " ".join([self.name, *missing])


class Alias(models.Model):
    """A name that resolves to an artifact, or to nothing that was validated."""

    class Kind(models.TextChoices):
        CANONICAL = "canonical", "canonical"
        COMPATIBILITY = "compatibility", "compatibility"
        LEGACY = "legacy", "legacy"

    name = models.CharField(max_length=200, unique=True)
    kind = models.CharField(max_length=14, choices=Kind)
    artifact = models.ForeignKey(
        Artifact, null=True, blank=True, on_delete=models.CASCADE, related_name="aliases"
    )
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.MANUAL)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Deployment(models.Model):
    """Artifact x runtime on a host, under a canonical route name."""

    slug = models.SlugField(max_length=120, unique=True)
    canonical_route = models.CharField(max_length=200, blank=True, help_text="empty: not recorded")
    artifact = models.ForeignKey(Artifact, on_delete=models.PROTECT, related_name="deployments")
    runtime = models.ForeignKey(Runtime, on_delete=models.PROTECT, related_name="deployments")
    host = models.ForeignKey(Host, on_delete=models.PROTECT, related_name="deployments")
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.MANUAL)
    report_id = models.CharField(max_length=12, blank=True, help_text="its number in the report")
    note = models.TextField(blank=True)
    is_archived = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["canonical_route", "slug"]

    def __str__(self) -> str:
        return self.canonical_route or str(self.artifact)


class Revision(models.Model):
    """An immutable configuration of a deployment. Evidence counts for its fingerprint alone."""

    deployment = models.ForeignKey(Deployment, on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField()
    is_active = models.BooleanField(default=True)
    runtime_build = models.ForeignKey(RuntimeBuild, on_delete=models.PROTECT, related_name="+")
    parallel = models.PositiveIntegerField(null=True, blank=True, help_text="runtime slots")
    context_total = models.PositiveIntegerField(null=True, blank=True, help_text="tokens")
    context_per_slot = models.PositiveIntegerField(null=True, blank=True, help_text="tokens")
    kv_type = models.CharField(max_length=20, blank=True)
    prompt_cache_mib = models.PositiveIntegerField(null=True, blank=True)
    checkpoints = models.PositiveIntegerField(null=True, blank=True)
    guards = models.JSONField(default=dict, blank=True)
    admission = models.JSONField(default=dict, blank=True)
    extra = models.JSONField(default=dict, blank=True)
    artifact_digest = models.CharField(max_length=64, blank=True)
    fingerprint = models.CharField(max_length=64, editable=False)
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.MANUAL)
    created_at = models.DateTimeField(auto_now_add=True)

    FROZEN = (
        "runtime_build_id",
        "parallel",
        "context_total",
        "context_per_slot",
        "kv_type",
        "prompt_cache_mib",
        "checkpoints",
        "guards",
        "admission",
        "extra",
        "artifact_digest",
    )

    class Meta:
        ordering = ["deployment", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["deployment", "number"], name="revision_number"),
            models.UniqueConstraint(
                fields=["deployment"],
                condition=models.Q(is_active=True),
                name="one_active_revision",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.deployment} r{self.number}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """A stored revision never changes; only which one is active does."""
        if self.pk is None:
            self.fingerprint = self.compute_fingerprint()
        elif self.fingerprint != self.compute_fingerprint():
            raise ValidationError("A revision cannot change: make a new one.")
        super().save(*args, **kwargs)

    def clean(self) -> None:
        """Fixed slots: total = slots x per-slot, refused with the arithmetic (design 7.6)."""
        if self.parallel and self.context_total and self.context_per_slot:
            needed = self.parallel * self.context_per_slot
            if needed != self.context_total and not self.extra.get("kv_unified"):
                raise ValidationError(
                    {
                        "context_total": (
                            f"{self.parallel} slots x {self.context_per_slot:,} tokens = "
                            f"{needed:,}, but the total says {self.context_total:,}."
                        )
                    }
                )

    def compute_fingerprint(self) -> str:
        """SHA-256 over the artifact, the runtime build and every frozen setting."""
        deployment = self.deployment
        settings = {name: getattr(self, name) for name in self.FROZEN if name[-3:] != "_id"}
        settings["runtime"] = [self.runtime_build.runtime.key, self.runtime_build.version]
        settings["artifact"] = [
            deployment.artifact.name,
            deployment.artifact.format,
            deployment.artifact.quantization,
            deployment.artifact.file_name,
        ]
        settings["host"] = deployment.host.key
        text = json.dumps(settings, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


class Endpoint(models.Model):
    """Where one layer of a deployment answers. Requests go only to registered endpoints."""

    deployment = models.ForeignKey(Deployment, on_delete=models.CASCADE, related_name="endpoints")
    layer = models.CharField(max_length=8, choices=Layer)
    base_url = models.CharField(
        max_length=300,
        validators=[validate_address],
        help_text="such as http://127.0.0.1:8080/v1",
    )
    served_model = models.CharField(max_length=300, help_text="the model name to send")
    api_key_env = models.CharField(
        max_length=80,
        blank=True,
        validators=[RegexValidator(r"^[A-Za-z_][A-Za-z0-9_]*$", "Give the name, never the key.")],
        help_text="NAME of the environment variable with the key",
    )
    is_active = models.BooleanField(default=True)

    class Meta:
        ordering = ["deployment", "layer"]
        constraints = [
            models.UniqueConstraint(
                fields=["deployment", "layer"],
                condition=models.Q(is_active=True),
                name="one_active_endpoint_per_layer",
            )
        ]

    def __str__(self) -> str:
        return f"{self.layer} {self.base_url}"


class ImportedFigure(models.Model):
    """A figure of a report about a deployment. Shown, never counted as evidence."""

    deployment = models.ForeignKey(Deployment, on_delete=models.CASCADE, related_name="figures")
    workload = models.CharField(max_length=200)
    metric = models.CharField(max_length=40, help_text="with its unit, such as ttft_mean_s")
    x_label = models.CharField(max_length=40, blank=True, help_text="position in a series")
    value = models.FloatField(null=True, blank=True)
    value_max = models.FloatField(null=True, blank=True, help_text="upper end of a range")
    text = models.CharField(max_length=200, blank=True, help_text="where it is no number")
    unit = models.CharField(max_length=20, blank=True)
    is_approximate = models.BooleanField(default=False)
    is_historical = models.BooleanField(default=False)
    reported_by = models.CharField(max_length=40, blank=True, help_text="such as server metric")
    note = models.TextField(blank=True)
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.IMPORTED)
    reported_on = models.DateField()

    class Meta:
        ordering = ["deployment", "pk"]

    def __str__(self) -> str:
        return f"{self.workload}: {self.metric}"


class InventoryName(models.Model):
    """A name seen on a host that is no validated deployment."""

    name = models.CharField(max_length=200, unique=True)
    status = models.CharField(max_length=200)
    treatment = models.CharField(max_length=300)
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.IMPORTED)
    reported_on = models.DateField()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Claim(models.Model):
    """Somebody else's published figures. Shown apart, never counted."""

    subject = models.CharField(max_length=300, unique=True)
    source = models.CharField(max_length=300, blank=True, help_text="where it was published")
    deployments = models.ManyToManyField(Deployment, blank=True, related_name="claims")
    hardware = models.CharField(max_length=200, blank=True)
    figures = models.JSONField(default=dict)
    caveat = models.TextField(blank=True)
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.CLAIM)
    reported_on = models.DateField()

    class Meta:
        ordering = ["subject"]

    def __str__(self) -> str:
        return self.subject


class ReportedFailure(models.Model):
    """One failure row of a report: phenomenon, reading, prevention; mapped to a failure class."""

    report_key = models.SlugField(unique=True)
    failure_class = models.CharField(max_length=40, blank=True)
    seen = models.CharField(max_length=300)
    cause = models.CharField(max_length=300)
    prevention = models.CharField(max_length=300)
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.IMPORTED)
    reported_on = models.DateField()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.report_key
