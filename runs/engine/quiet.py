"""Keeps Python's garbage collector from walking the whole program while something is timed."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet_collector() -> Iterator[None]:
    """What exists already is left out of collections; new garbage is still collected.

    A full collection of a program with Django loaded stops every thread for tens of ms.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
