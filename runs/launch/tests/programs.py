"""Small programs that behave like servers in trouble, run as `python programs.py NAME`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def forever() -> None:
    threading.Event().wait()


def family() -> None:
    """A child and a grandchild that left the process group; all deaf to SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen([sys.executable, __file__, "deaf"])
    escaped = subprocess.Popen([sys.executable, __file__, "deaf"], start_new_session=True)
    say(f"family {os.getpid()} {child.pid} {escaped.pid}")
    forever()


def deaf() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    say("deaf")
    forever()


def polite() -> None:
    signal.signal(signal.SIGTERM, leave)
    say("polite")
    forever()


def leave(*_: object) -> None:
    say("goodbye")
    os._exit(0)


def chatter() -> None:
    """A line without end, then many lines, then the environment."""
    sys.stdout.write("x" * 3_000_000 + "\n")
    for number in range(5000):
        say(f"line {number}")
    for name, value in sorted(os.environ.items()):
        say(f"{name}={value}")
    say("the end")
    forever()


def bad() -> None:
    say("loading")
    say("RuntimeError: shape mismatch: expected (4096, 4096), got (4096, 1024)")
    sys.exit(3)


if __name__ == "__main__":
    {f.__name__: f for f in (family, deaf, polite, chatter, bad)}[sys.argv[1]]()
