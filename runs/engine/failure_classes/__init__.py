"""Every failure class: what it means, why it happens, what to do next. One table for all pages."""

from runs.engine.failure_classes import answer, arriving, beyond, shape
from runs.engine.failure_classes.row import FailureClass

__all__ = ["FAILURE_CLASSES", "REPORT_FAILURES", "FailureClass"]

_ROWS = [*arriving.ROWS, *shape.ROWS, *answer.ROWS, *beyond.ROWS]
FAILURE_CLASSES = {row.key: row for row in _ROWS}

# The eight failure rows of the field report, by its keys.
REPORT_FAILURES = {
    "partial_prefill": "partial_prefill",
    "empty_stream": "empty_response",
    "init_failed": "init_failed",
    "incomplete_over_limit": "incomplete_over_limit",
    "warm_retry_timeout": "warm_retry_timeout",
    "too_slow": "too_slow",
    "timing_artifact": "buffered_stream",
    "parallel_regression": "parallel_regression",
}
