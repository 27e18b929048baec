"""Series of samples in compressed chunks, and what each prompt size cost in memory."""

from __future__ import annotations

from django.db import models


class SeriesChunk(models.Model):
    """A stretch of one series of a run (see `runs.memory.codec` for `data`).

    Times are ms since the run started. `step_ms` 0 holds samples as they came; a larger step
    holds the minimum, mean, maximum and number of samples of each such interval.
    """

    run = models.ForeignKey("runs.Run", on_delete=models.CASCADE, related_name="series")
    name = models.CharField(max_length=40, help_text="a key of runs.memory.metrics.METRICS")
    step_ms = models.PositiveIntegerField(default=0)
    start_ms = models.BigIntegerField()
    end_ms = models.BigIntegerField(help_text="of the last sample")
    count = models.PositiveIntegerField(help_text="samples or intervals in it")
    data = models.BinaryField()

    class Meta:
        ordering = ["run", "name", "start_ms"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "name", "step_ms", "start_ms"], name="series_chunk"
            )
        ]

    def __str__(self) -> str:
        return f"{self.run_id} {self.name} from {self.start_ms} ms"


class GrowthPoint(models.Model):
    """Memory of the server around one long fresh prompt, alone on the server.

    Bytes are of `figure`, of the whole process tree. Kept when the samples are thinned: slopes
    are fitted from these.
    """

    run = models.ForeignKey("runs.Run", on_delete=models.CASCADE, related_name="growth")
    request_index = models.PositiveIntegerField()
    prompt_tokens = models.PositiveIntegerField()
    is_clean = models.BooleanField(help_text="the request was a clean pass")
    figure = models.CharField(max_length=40, help_text="such as rss_bytes")
    before_bytes = models.BigIntegerField()
    peak_bytes = models.BigIntegerField(help_text="until the next prompt of another size")
    retained_bytes = models.BigIntegerField(null=True, help_text="after idle")
    after_repeat_bytes = models.BigIntegerField(null=True, help_text="after the exact repeat")
    after_other_bytes = models.BigIntegerField(
        null=True, help_text="after a short other prompt: some servers save a cache only then"
    )

    class Meta:
        ordering = ["prompt_tokens", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["run", "request_index"], name="growth_point")
        ]

    def __str__(self) -> str:
        return f"{self.prompt_tokens} tokens in run {self.run_id}"

    @property
    def grown_bytes(self) -> int:
        """What this prompt took at most. Never below zero: falling is not growth."""
        return max(self.peak_bytes - self.before_bytes, 0)

    @property
    def kept_bytes(self) -> int | None:
        """What stayed behind at last, against before; negative when memory fell."""
        last = self.after_other_bytes or self.after_repeat_bytes or self.retained_bytes
        return None if last is None else last - self.before_bytes
