"""The identity ladder in words: how strong the proof is that the right model answers."""

from __future__ import annotations

LEVELS = (
    "typed in, not proven",
    "echoed by the server, which proves nothing",
    "listed by the server",
    "reported by the server as the loaded file",
    "confirmed by file and digest",
    "confirmed by the server's own process",
    "confirmed by behaviour",
)


def proof_words(level: int) -> str:
    """The step of the ladder; anything unknown counts as not proven."""
    return LEVELS[level] if 0 <= level < len(LEVELS) else LEVELS[0]
