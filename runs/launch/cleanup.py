"""After a worker's death: what it had started is recognised by its marks and stopped."""

from __future__ import annotations

import logging
import signal

from django.conf import settings
from django.utils import timezone

from runs.launch.models import LIVING, Launch, LaunchState
from runs.launch.process import SAME_MOMENT_S, created, stop_tree

logger = logging.getLogger(__name__)

LEFT_BEHIND = (
    "The worker that started this server ended without stopping it. A later start recognised "
    "it by its mark and stopped what was left: {} processes."
)


def clean_up() -> list[Launch]:
    """Stop what dead workers of this host left behind. A living worker's servers are its own."""
    left = Launch.objects.filter(host__key=settings.LOCAL_HOST_KEY, state__in=LIVING)
    return [stop_left(launch) for launch in left if not worker_lives(launch)]


def worker_lives(launch: Launch) -> bool:
    """The same process id alone may be somebody else by now."""
    created_s = created(launch.worker_pid)
    if created_s is None or launch.worker_created_s is None:
        return False
    return abs(created_s - launch.worker_created_s) < SAME_MOMENT_S


def stop_left(launch: Launch) -> Launch:
    found = stop_tree(launch.trace, first=signal.Signals[launch.profile.stop_signal], grace_s=5.0)
    logger.warning("%s of a dead worker: %s processes stopped", launch, found)
    launch.state = LaunchState.CLEANED
    launch.explanation = LEFT_BEHIND.format(found)
    launch.ended_at = timezone.now()
    launch.save()
    return launch
