"""Keeps hold of one server's process tree over many looks, sparing with what costs time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from runs.engine.clock import now_ns
from runs.engine.memory.process import (
    NotMeasurable,
    ServerProcess,
    TreeMemory,
    describe,
    find_server,
    is_alive,
    measure,
    tree_of,
)

COSTLY_SHARE = 0.01


class Sparing:
    """A costly step, due again once its last cost is under a hundredth of the time since."""

    def __init__(self) -> None:
        self._due_ns = 0

    @property
    def is_due(self) -> bool:
        return now_ns() >= self._due_ns

    @contextmanager
    def spend(self) -> Iterator[None]:
        start_ns = now_ns()
        try:
            yield
        finally:
            end_ns = now_ns()
            self._due_ns = end_ns + int((end_ns - start_ns) / COSTLY_SHARE)


class Looker:
    """Finds the process behind an address, and finds it again after a restart."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url
        self._process: psutil.Process | None = None
        self._tree: list[psutil.Process] = []
        self._reason = ""
        self._search, self._walk, self._detail = Sparing(), Sparing(), Sparing()

    def look(self) -> tuple[ServerProcess, TreeMemory]:
        """Raises NotMeasurable with the reason."""
        process = self._process or self._find()
        try:
            if not is_alive(process):
                raise psutil.NoSuchProcess(process.pid)
            return describe(process), self._measure(process)
        except psutil.NoSuchProcess as gone:
            self._process, self._search = None, Sparing()  # it may be back at once
            self._reason = f"The server's process {process.pid} has ended."
            raise NotMeasurable(self._reason) from gone
        except (psutil.Error, OSError) as error:
            raise NotMeasurable(f"Process {process.pid} cannot be read: {error}") from error

    def _find(self) -> psutil.Process:
        if not self._search.is_due:
            raise NotMeasurable(self._reason)
        with self._search.spend():
            try:
                self._process = find_server(self._base_url)
            except NotMeasurable as reason:
                self._reason = self._reason or str(reason)
                raise NotMeasurable(self._reason) from reason
        self._tree, self._reason = [], ""
        return self._process

    def _measure(self, process: psutil.Process) -> TreeMemory:
        if not self._tree or self._walk.is_due:
            with self._walk.spend():
                self._tree = tree_of(process)
        if not self._detail.is_due:
            return measure(self._tree, in_detail=False)
        with self._detail.spend():
            return measure(self._tree, in_detail=True)
