"""Beyond one answer: the server as a whole, and our own side."""

from __future__ import annotations

from runs.engine.failure_classes.row import DEGRADED, FAIL, INCONCLUSIVE, group

ROWS = [
    *group(
        "server",
        (
            "memory_guard",
            FAIL,
            "Memory guard",
            "A memory limit was reached and stopped it.",
            "Weights, KV of all slots and retained caches together.",
            "Lower slots, context or prompt cache; see what else is resident.",
        ),
        (
            "process_crash",
            FAIL,
            "Server process died",
            "The server process is gone.",
            "Out of memory, a fault of the engine, or somebody stopped it.",
            "Read the end of the server's log and the system's memory events.",
        ),
        (
            "process_restarted",
            FAIL,
            "Server was restarted",
            "Another process answers than at the beginning.",
            "A crash with a supervisor behind it.",
            "This run mixes two processes and is void. Read the log of the first one.",
        ),
        (
            "stale_slot",
            FAIL,
            "Slot stays busy",
            "After a cancel the slot did not come free.",
            "The runtime does not notice that the client is gone.",
            "Cancelled work blocks others: restart, or limit the answer on the server.",
        ),
        (
            "queue_stall",
            FAIL,
            "Queue does not move",
            "Requests wait, and only keep-alives come.",
            "A request that never ends is in front.",
            "Look at slots and queue; restart.",
        ),
        (
            "parallel_regression",
            FAIL,
            "Worse in parallel",
            "More requests or slots at one moment lost what fewer had: time-outs, or half the "
            "throughput.",
            "Prefill bandwidth and KV memory are shared.",
            "Go back to the lower setting, and let the excess wait in a queue.",
        ),
    ),
    *group(
        "ours",
        (
            "cancelled",
            INCONCLUSIVE,
            "Cancelled",
            "A person stopped the run.",
            "Somebody pressed Cancel.",
            "Run again when you want a result.",
        ),
        (
            "interrupted",
            INCONCLUSIVE,
            "Interrupted",
            "Our own side stopped before the end.",
            "The worker died or was restarted.",
            "Run again; what was recorded is kept.",
        ),
        (
            "probe_limit",
            INCONCLUSIVE,
            "Our own limit",
            "We stopped it at our limit of bytes.",
            "An answer without end, or a limit that is too small.",
            "Look at the answer; raise the limit if it was right.",
        ),
        (
            "telemetry_gap",
            DEGRADED,
            "A gap in our measuring",
            "Memory was not seen for a while, or our own side could not keep up.",
            "No right to look at the process, a call that hung, or a machine that was too busy.",
            "Run the worker as the server's user, with fewer clients or on a quieter machine.",
        ),
    ),
]
