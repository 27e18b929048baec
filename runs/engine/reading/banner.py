"""A gateway's own words while it loads a model, streamed as if the model said them.

llama-swap (`sendLoadingState`) sends a ruler, a headline, remarks, "Done!" and a ruler again, all
as reasoning: the first piece of content is the model's in any case.
"""

from __future__ import annotations

import re
from enum import Enum, auto

RULER = re.compile(r"^\s*[━─]{3,}\s*$", re.MULTILINE)
HEADLINE = re.compile(r"^\s*[\w.-]*swap loading model", re.IGNORECASE)
DONE = re.compile(r"Done! \(")


class _Place(Enum):
    BEFORE = auto()
    INSIDE = auto()
    CLOSING = auto()
    AFTER = auto()
    PAST = auto()


class LoadingBanner:
    """Tells for each piece of text, in order, whether it still belongs to the banner."""

    def __init__(self) -> None:
        self._place = _Place.BEFORE

    def holds(self, text: str) -> bool:
        """True while the gateway speaks; false for good once the model does."""
        if self._place is _Place.BEFORE:
            starts = RULER.match(text) or HEADLINE.match(text)
            self._place = _Place.INSIDE if starts else _Place.PAST
        elif self._place is _Place.INSIDE and DONE.search(text):
            self._place = _Place.CLOSING
        elif self._place is _Place.CLOSING and RULER.match(text):
            self._place = _Place.AFTER
        elif self._place in (_Place.CLOSING, _Place.AFTER) and text.strip():
            self._place = _Place.PAST
        return self._place is not _Place.PAST
