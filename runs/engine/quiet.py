"""Keeps Python's garbage collector from walking the whole program while something is timed."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

# So many new objects start a young collection. With Python's 700 every few chunks start one, each
# of which walks what hundreds of open streams hold.
YOUNG_OBJECTS = 50_000

_lock = Lock()
_usual_thresholds: list[tuple[int, int, int]] = []  # one for each block that is entered


@contextmanager
def quiet_collector() -> Iterator[None]:
    """What exists already is left out of collections; new garbage is collected less often.

    A full collection of a program with Django loaded stops every thread for tens of ms. Blocks
    may overlap: the last to end brings back what the first found.
    """
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    with _lock:
        _usual_thresholds.append(gc.get_threshold())
        gc.freeze()
        gc.set_threshold(YOUNG_OBJECTS, *gc.get_threshold()[1:])


def _leave() -> None:
    with _lock:
        if len(_usual_thresholds) > 1:
            _usual_thresholds.pop()
            return
        gc.set_threshold(*_usual_thresholds.pop())
        gc.unfreeze()
