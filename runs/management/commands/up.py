"""`manage.py up`: the whole lab in one terminal, no server to install."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shlex
import signal
import socket
import sys
import threading
import urllib.error
import urllib.request
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from catalog.discovery import register_running_server
from catalog.machine import ensure_local_host
from catalog.models import Deployment
from people.services import create_first_admin, ensure_roles
from runs.launch.cleanup import clean_up
from runs.launch.permission import ALLOW, PROGRAMS
from runs.launch.services import ensure_ready_made_profiles
from runs.services import ensure_default_suites
from runs.supervisor import Child, Supervisor, say, wait_for

DEMO_READY_S = 90.0
WEB_READY_S = 60.0


class Command(BaseCommand):
    help = "Start web, workers, scheduler and the demo runtime; Ctrl-C ends all of them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=int(os.environ.get("PORT") or 8000))
        parser.add_argument("--bind", default="127.0.0.1", help="address to listen on")
        parser.add_argument(
            "--no-demo",
            action="store_true",
            default=os.environ.get("DEMO", "1") == "0",
            help="without the demo llama.cpp server (same as DEMO=0)",
        )

    def handle(self, *args: Any, bind: str, port: int, no_demo: bool, **options: Any) -> None:
        refuse_taken_port(bind, port)
        with only_one():
            password = prepare()
            demo_port = None if no_demo else free_demo_port()
            supervisor = Supervisor(children(bind, port, demo_port))
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda *_: supervisor.stop())
            supervisor.start()
            threading.Thread(
                target=announce, args=(supervisor, bind, port, demo_port, password), daemon=True
            ).start()
            supervisor.watch()
            clean_up()
            say("up", "All stopped.")
        if supervisor.failed:
            sys.exit(1)


def refuse_taken_port(bind: str, port: int) -> None:
    """CommandError with a way out when something listens there already."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((bind, port))
        except OSError as error:
            raise CommandError(
                f"Port {port} on {bind} cannot be used ({error.strerror}). "
                f"Stop what uses it, or take another: make run PORT={port + 1}"
            ) from error


@contextlib.contextmanager
def only_one() -> Iterator[None]:
    """One `up` per data folder: two would double every worker."""
    with (settings.VAR_DIR / "up.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise CommandError(
                "Cleanpass already runs on this data folder. Stop it first, "
                "or give another: CLEANPASS_VAR=/some/folder make run"
            ) from error
        yield


def prepare() -> str | None:
    """Bring the data up to date. Returns the first admin's one-time password, if one was made."""
    call_command("migrate", verbosity=0)
    ensure_roles()
    ensure_default_suites()
    ensure_ready_made_profiles()
    ensure_local_host(settings.LOCAL_HOST_KEY)
    if not Deployment.objects.exists():
        call_command("load_report")
    _, password = create_first_admin(password=os.environ.get("CLEANPASS_ADMIN_PASSWORD") or None)
    return password


def children(bind: str, port: int, demo_port: int | None) -> list[Child]:
    """The processes: what measures shares its interpreter with nothing else."""
    queue = f"measure.{settings.LOCAL_HOST_KEY}"
    web = ["uvicorn", "config.asgi:application", "--host", bind, "--port", str(port)]
    web += ["--ws", "websockets-sansio", "--lifespan", "off", "--no-access-log"]
    web += ["--timeout-graceful-shutdown", "2", "--log-level", "warning"]
    parts = [
        Child("web", [sys.executable, "-m", *web]),
        Child("measure", celery_worker(queue, 1), launch_permission()),
        Child("ticks", celery_worker("ticks", 2)),
        Child("beat", [*celery(), "beat", "--loglevel", "WARNING"]),
    ]
    if demo_port is not None:
        demo = ["demo.server", "--port", str(demo_port), "--slots", "4"]
        demo += ["--context-per-slot", "8192"]
        parts.append(Child("demo", [sys.executable, "-m", *demo]))
    return parts


def launch_permission() -> dict[str, str]:
    """This lab's own worker may launch the demo server; whoever starts the lab may say more."""
    demo = shlex.join([sys.executable, "-m", "demo.server"])
    return {
        ALLOW: os.environ.get(ALLOW, "1"),
        PROGRAMS: ";".join(filter(None, [demo, os.environ.get(PROGRAMS)])),
    }


def celery() -> list[str]:
    return [sys.executable, "-m", "celery", "--app", "config"]


def celery_worker(queue: str, concurrency: int) -> list[str]:
    """Threads pool: forking is unsafe on macOS, and a run is cancelled by a flag anyway."""
    name = f"{queue.replace('.', '-')}@%h"
    worker = [*celery(), "worker", "--pool", "threads", "--concurrency", str(concurrency)]
    worker += ["--queues", queue, "--hostname", name, "--loglevel", "WARNING"]
    return [*worker, "--without-gossip", "--without-mingle", "--without-heartbeat"]


def free_demo_port() -> int:
    """The usual port of the demo runtime, or any free one when that is taken."""
    for port in (int(os.environ.get("CLEANPASS_DEMO_PORT") or 8181), 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise CommandError("No free port for the demo runtime. Start without it: make run DEMO=0")


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def announce(
    supervisor: Supervisor, bind: str, port: int, demo_port: int | None, password: str | None
) -> None:
    """Wait for the parts, register the demo runtime, and tell where to go."""
    if demo_port is not None:
        register_demo(supervisor, f"http://127.0.0.1:{demo_port}")
    shown = "127.0.0.1" if bind in ("0.0.0.0", "::") else bind
    address = f"http://{shown}:{port}/"
    ready = wait_for(
        lambda: answers(f"{address}login/"), deadline_s=WEB_READY_S, stopping=supervisor.stopping
    )
    if supervisor.stopping.is_set():
        return
    say("up", f"Cleanpass is at {address}" if ready else "The web process does not answer yet.")
    if password:
        say("up", f"First admin: name admin, one-time password {password}")
    say("up", "Ctrl-C ends everything; the data stays.")


def register_demo(supervisor: Supervisor, root: str) -> None:
    """Register the demo server as it describes itself; without it the lab works all the same."""
    ready = wait_for(
        lambda: answers(f"{root}/health"), deadline_s=DEMO_READY_S, stopping=supervisor.stopping
    )
    if not ready:
        if not supervisor.stopping.is_set():
            say("up", "The demo runtime did not get ready; the lab works without it.")
        return
    deployment = register_running_server(base_url=root, host_key=settings.LOCAL_HOST_KEY)
    say("up", f"Demo runtime registered: {deployment.canonical_route}")
