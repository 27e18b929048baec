"""Calls into the OS that may hang, such as reading a process that is stuck in the kernel."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class Hung(Exception):
    """No answer within the deadline."""


class Bounded(Generic[T]):
    """Waits so long for a call and no longer. While one hangs, no other is started."""

    def __init__(self, call: Callable[[], T], deadline_s: float) -> None:
        self._call = call
        self._deadline_s = deadline_s
        self._pending: Future[T] | None = None

    def __call__(self) -> T:
        """Raises Hung, or what the call raised."""
        if self._pending is None:
            self._pending = Future()
            threading.Thread(target=self._run, args=(self._pending,), daemon=True).start()
        try:
            result = self._pending.result(self._deadline_s)
        except TimeoutError as late:
            if not self._pending.done():
                raise Hung from late
            self._pending = None
            raise
        except BaseException:
            self._pending = None
            raise
        self._pending = None
        return result

    def _run(self, answer: Future[T]) -> None:
        try:
            answer.set_result(self._call())
        except BaseException as error:
            answer.set_exception(error)
