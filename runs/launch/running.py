"""A server of ours for as long as it is needed: started, registered, and always stopped."""

from __future__ import annotations

import os
import secrets
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace

import psutil
from django.conf import settings
from django.utils import timezone

from catalog.discovery import DiscoveryError, look_at
from catalog.models import Deployment
from runs import workers
from runs.engine.redact import storable
from runs.launch.arguments import ArgumentRefused, Parameters
from runs.launch.cleanup import clean_up
from runs.launch.models import Launch, LaunchProfile, LaunchState
from runs.launch.permission import LaunchRefused, require_launch
from runs.launch.process import CannotStart, Command, Launched, created, free_port
from runs.launch.readiness import LaunchFailed, wait_ready
from runs.launch.registering import register_launched
from runs.launch.services import command_of

MIB = 1024**2
HURRY_S = 1.5
LONGEST_GRACE_S = 600


def never() -> bool:
    return False


@contextmanager
def launched(
    *,
    profile: LaunchProfile,
    parameters: Parameters,
    deployment: Deployment,
    stop: Callable[[], bool] = never,
) -> Iterator[Launch]:
    """A ready server with its revision and endpoint on the row; stopped whole at the end.

    Raises LaunchRefused when nothing may be started, LaunchFailed (also stored on the row, with
    the log tail) when the server did not get ready. `stop` ends the waiting.
    """
    clean_up()
    given = replace(parameters, port=free_port())
    command = checked(profile, given, deployment)
    launch = Launch.objects.create(
        profile=profile,
        deployment=deployment,
        host=deployment.host,
        parameters=asdict(given),
        argv=[storable(word) for word in command.argv],
        mark=secrets.token_hex(16),
        worker_pid=os.getpid(),
        worker_created_s=created(os.getpid()),
    )
    server = start(launch, command)
    try:
        get_ready(launch, server, given, stop)
        yield launch
    finally:
        server.stop(first=signal.Signals[profile.stop_signal], grace_s=grace_s(profile))
        record_end(launch, server)


def checked(profile: LaunchProfile, given: Parameters, deployment: Deployment) -> Command:
    """The command, if it may be started here and now. Raises LaunchRefused."""
    if profile.by_hand:
        raise LaunchRefused(profile.by_hand)
    if profile.runtime_id != deployment.runtime_id:
        raise LaunchRefused(
            f"{profile} starts {profile.runtime}, and {deployment} is served by "
            f"{deployment.runtime}. Nothing is carried from one runtime to another."
        )
    if deployment.host.key != settings.LOCAL_HOST_KEY:
        raise LaunchRefused(f"{deployment} belongs to {deployment.host}, not to this machine.")
    try:
        command = command_of(profile, given, dict(os.environ))
    except ArgumentRefused as refused:
        raise LaunchRefused(str(refused)) from refused
    require_launch(command.argv)
    see_that_there_is_room(profile)
    return command


def grace_s(profile: LaunchProfile) -> float:
    """A worker that is being stopped has little time, and must leave nothing behind."""
    return HURRY_S if workers.stopping.is_set() else float(min(profile.grace_s, LONGEST_GRACE_S))


def see_that_there_is_room(profile: LaunchProfile) -> None:
    budget, available = profile.memory_budget_mib, psutil.virtual_memory().available // MIB
    if budget and budget > available:
        raise LaunchRefused(
            f"The profile's budget is {budget:,} MiB and {available:,} MiB are available. "
            "Stop what else is loaded, or lower the budget."
        )


def start(launch: Launch, command: Command) -> Launched:
    try:
        server = Launched(command, launch.mark)
    except CannotStart as error:
        record(launch, LaunchState.FAILED, "init_failed", str(error))
        raise LaunchFailed("init_failed", str(error)) from error
    launch.pid, launch.pid_created_s = server.trace.pid, server.trace.created_s
    launch.save(update_fields=["pid", "pid_created_s"])
    return server


def get_ready(
    launch: Launch, server: Launched, given: Parameters, stop: Callable[[], bool]
) -> None:
    """Wait, and register what the server says it is. Raises LaunchFailed."""
    profile, base_url = launch.profile, f"http://127.0.0.1:{given.port}/v1"
    try:
        launch.load_ms = wait_ready(
            server, base_url, profile.runtime.key, within_s=profile.ready_s, stop=stop
        )
        found = look_at(base_url)
        launch.revision, launch.endpoint = register_launched(
            profile, given, launch.deployment, found
        )
    except DiscoveryError as error:
        record(launch, LaunchState.FAILED, "init_failed", str(error))
        raise LaunchFailed("init_failed", str(error)) from error
    except LaunchFailed as failed:
        record(launch, LaunchState.FAILED, failed.failure_class, failed.explanation)
        raise
    launch.state = LaunchState.READY
    launch.save()


def record(launch: Launch, state: str, failure_class: str = "", explanation: str = "") -> None:
    launch.state, launch.failure_class = state, failure_class
    launch.explanation = storable(explanation)
    launch.ended_at = timezone.now()
    launch.save()


def record_end(launch: Launch, server: Launched) -> None:
    launch.log_tail = server.tail.lines()
    if launch.state in (LaunchState.READY, LaunchState.STARTING):
        launch.state = LaunchState.STOPPED
    launch.ended_at = timezone.now()
    launch.save()
