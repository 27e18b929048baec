"""What runs and campaigns tell whoever listens, sent inside the transaction that stores it.

Send with `tell`: a listener's fault is logged and never undoes what happened.
"""

from __future__ import annotations

import logging
from typing import Any

from django.dispatch import Signal

logger = logging.getLogger(__name__)

run_finished = Signal()  # run_id
# kind, key, title, path and, where there are, text, deployment, people: see
# `verdicts.notifications.services.publish`. `key` tells the same thing again apart.
happened = Signal()


def tell(signal: Signal, **what: Any) -> None:
    """Tell every listener; log those that failed."""
    for listener, answer in signal.send_robust(sender=None, **what):
        if isinstance(answer, Exception):
            logger.error("%s failed", listener, exc_info=answer)
