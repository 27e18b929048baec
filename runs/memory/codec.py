"""Columns of whole numbers as differences, compressed. A missing value stays missing."""

from __future__ import annotations

import zlib

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[np.int64]

MISSING = np.iinfo(np.int64).min
LEVEL = 6


def encode(columns: Column) -> bytes:
    """Pack columns (shape: columns x values). Differences wrap around, and wrap back."""
    differences = np.diff(columns, axis=1, prepend=np.zeros((len(columns), 1), np.int64))
    return zlib.compress(differences.astype("<i8").tobytes(), LEVEL)


def decode(data: bytes | memoryview, columns: int) -> Column:
    """What `encode` packed. Raises ValueError when it holds another number of columns."""
    differences = np.frombuffer(zlib.decompress(data), "<i8").reshape(columns, -1)
    return np.cumsum(differences, axis=1, dtype=np.int64)


def whole(values: list[float | None], scale: int = 1) -> Column:
    """Numbers as whole ones, None as MISSING."""
    return np.array([MISSING if v is None else round(v * scale) for v in values], np.int64)
