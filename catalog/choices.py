"""Words that several of the catalog's models share."""

from __future__ import annotations

from django.db import models


class Origin(models.TextChoices):
    """Where a record or number comes from."""

    CLIENT = "client", "measured by us"
    SERVER = "server", "reported by the server"
    IMPORTED = "imported", "from a report"
    CLAIM = "claim", "somebody's claim"
    MANUAL = "manual", "typed in"


class Task(models.TextChoices):
    GENERATION = "generation", "generation"
    EMBEDDING = "embedding", "embedding"
    RERANK = "rerank", "rerank"


class Layer(models.TextChoices):
    """Where a probe enters."""

    PROCESS = "process", "process"
    DIRECT = "direct", "direct"
    GATEWAY = "gateway", "gateway"
    PROXY = "proxy", "proxy"
