"""Everything that can be read out of a response body, with the arrival of each piece."""

from runs.engine.reading.model import (
    Fault,
    Finish,
    Reading,
    StreamError,
    TokenChunk,
    TokenKind,
    ToolCall,
)
from runs.engine.reading.reader import BodyReader

__all__ = [
    "BodyReader",
    "Fault",
    "Finish",
    "Reading",
    "StreamError",
    "TokenChunk",
    "TokenKind",
    "ToolCall",
]
