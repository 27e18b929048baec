"""Real processes: what is ours is stopped whole, and nothing else is touched."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from runs.launch.process import (
    MARK,
    CannotStart,
    Command,
    Launched,
    Trace,
    is_alive,
    members,
    stop_tree,
)
from runs.launch.tail import LINE_BYTES, LINES
from tests.servers import eventually

PROGRAMS = str(Path(__file__).with_name("programs.py"))
Start = Callable[..., Launched]


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[Launched] = []

    def launch(name: str, **more: Any) -> Launched:
        command = Command((sys.executable, PROGRAMS, name))
        launched = Launched(replace(command, **more), secrets.token_hex(8))
        started.append(launched)
        return launched

    yield launch
    for launched in started:
        launched.stop(first=signal.SIGKILL, grace_s=0.1)


def until_it_says(launched: Launched, word: str) -> str:
    def said() -> bool:
        return any(word in line for line in launched.tail.lines())

    eventually(said, deadline_s=20, what=f"it says {word}")
    return next(line for line in launched.tail.lines() if word in line)


def alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and is_alive(psutil.Process(pid))


def test_it_stops_the_whole_tree_even_what_left_the_group_and_ignores_the_signal(
    start: Start,
) -> None:
    launched = start("family")
    pids = [int(word) for word in until_it_says(launched, "family").split()[1:]]
    assert all(alive(pid) for pid in pids)
    launched.stop(first=signal.SIGTERM, grace_s=0.2)
    assert not any(alive(pid) for pid in pids)
    assert launched.exit_code == -signal.SIGKILL


def test_it_lets_a_server_say_goodbye_within_its_grace(start: Start) -> None:
    launched = start("polite")
    until_it_says(launched, "polite")
    launched.stop(first=signal.SIGTERM, grace_s=20)
    assert (launched.exit_code, launched.tail.lines()[-1]) == (0, "goodbye")


def test_it_finds_what_a_dead_leader_left_behind(start: Start) -> None:
    launched = start("family")
    leader, *rest = (int(word) for word in until_it_says(launched, "family").split()[1:])
    os.kill(leader, signal.SIGKILL)
    eventually(lambda: launched.exit_code is not None, deadline_s=10, what="the leader is gone")
    assert {process.pid for process in members(launched.trace)} == set(rest)
    stop_tree(launched.trace, first=signal.SIGTERM, grace_s=0.1)
    assert not any(alive(pid) for pid in rest)


def test_it_never_touches_a_process_that_only_shares_the_process_id(start: Start) -> None:
    stranger = start("deaf")
    until_it_says(stranger, "deaf")
    assert stranger.trace.pid and stranger.trace.created_s
    stale = Trace("another mark", stranger.trace.pid, stranger.trace.created_s - 60)
    assert stop_tree(stale, first=signal.SIGKILL, grace_s=0.1) == 0
    assert stop_tree(Trace("", stranger.trace.pid), first=signal.SIGKILL, grace_s=0.1) == 0
    assert stranger.exit_code is None


def test_it_keeps_a_bounded_tail(start: Start) -> None:
    launched = start("chatter")
    until_it_says(launched, "the end")
    lines = launched.tail.lines()
    assert len(lines) <= LINES + 1
    assert max(map(len, lines)) <= LINE_BYTES


def test_it_gives_the_program_named_variables_only_and_shows_no_secret(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://lab:hidden@db/x")
    secret = "a-value-nobody-may-see"
    launched = start("chatter", environment={"LAB_KEY": secret}, secrets=(secret,))
    until_it_says(launched, "the end")
    said = "\n".join(launched.tail.lines())
    assert "DATABASE_URL" not in said
    assert f"{MARK}={launched.trace.mark}" in said
    assert "LAB_KEY=[redacted]" in said
    assert secret not in said


def test_it_says_what_could_not_be_started() -> None:
    with pytest.raises(CannotStart, match="/no/such/program could not be started"):
        Launched(Command(("/no/such/program",)), "mark")


def test_it_gives_exit_code_and_last_words_of_what_ends_by_itself(start: Start) -> None:
    launched = start("bad")
    until_it_says(launched, "shape mismatch")
    eventually(lambda: launched.exit_code is not None, deadline_s=10, what="it ended")
    assert launched.exit_code == 3


def test_it_does_not_take_our_own_process_for_a_launched_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A worker that was itself started by a launch must not stop itself."""
    code = (
        f"import os; from runs.launch.process import *; "
        f"print(len(members(Trace(os.environ['{MARK}']))))"
    )
    env = {**os.environ, MARK: "abc"}
    told = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert told.stdout.strip() == "0", told.stderr
