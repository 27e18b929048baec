"""Reads a body as it arrives: feed blocks, then close. Decides the framing by what comes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from runs.engine.reading.figures import read_comment
from runs.engine.reading.model import Fault, Framing, Reading
from runs.engine.reading.objects import ObjectReader
from runs.engine.reading.template import ChunkTemplate, template_of
from runs.engine.sse import Item, LineKind, NDJSONParser, SSEParser

EXCERPT_BYTES = 4096
TAIL_BYTES = 8 * 1024  # so much is kept before it is cut to the excerpt
DONE = "[DONE]"
BOM = b"\xef\xbb\xbf"
SSE_STARTS = (b"data:", b"event:", b"id:", b"retry:", b":")
NDJSON_TYPES = ("application/x-ndjson", "application/ndjson", "application/jsonl")
FIRST_LINE_BYTES = 64 * 1024  # how far a first line is looked for, to tell NDJSON from JSON

Blocks = Sequence[tuple[int, bytes]]  # (arrival ns, bytes) each


class BodyReader:
    """One response body. `reading` grows while blocks are fed; nothing here ever raises.

    `content_type` is the bare media type; it may also be set on `reading` before the first block.
    """

    def __init__(self, *, content_type: str, line_bytes: int) -> None:
        self.reading = Reading(content_type=content_type)
        self._objects = ObjectReader(self.reading)
        self._line_bytes = line_bytes
        self._parser: SSEParser | NDJSONParser | None = None
        self._whole: list[bytes] = []
        self._undecided = b""
        self._last_object: dict[str, Any] | None = None
        self._template: ChunkTemplate | None = None  # None as well within an event
        self._start_bytes = b""
        self._tail: list[bytes] = []
        self._trim_at_bytes = TAIL_BYTES

    def feed(self, blocks: Blocks) -> None:
        """The next blocks of body bytes, each with its arrival. Past an oversized line nothing
        is read any more."""
        position = 0
        while position < len(blocks) and not self.reading.is_oversized:
            alike = self._take_alike(blocks[position:])
            if not alike:
                self._block(*blocks[position])
            position += alike or 1
        self._keep(blocks[:position])

    def _take_alike(self, blocks: Blocks) -> int:
        """Take the first blocks that are the last chunk again; how many they were."""
        if self._template is None or not (texts := self._template.texts_of(blocks)):
            return 0
        self.reading.events += len(texts)
        self._objects.say(self._template.kind, texts, blocks)
        return len(texts)

    def _block(self, at_ns: int, data: bytes) -> None:
        if self._parser is not None:
            self._feed_stream(self._parser, at_ns, data)
        elif self._whole:
            self._whole.append(data)
        else:
            self._decide(at_ns, data)

    def _keep(self, blocks: Blocks) -> None:
        reading = self.reading
        if reading.first_byte_ns is None:
            reading.first_byte_ns = blocks[0][0]
        reading.last_byte_ns = blocks[-1][0]
        pieces = [data for _, data in blocks]
        reading.body_bytes += sum(map(len, pieces))
        self._tail += pieces
        if reading.body_bytes > self._trim_at_bytes:
            self._trim_tail()

    def close(self, *, is_whole: bool = True) -> Reading:
        """The end of the body; gives the finished reading. `is_whole` False: the transport was
        cut, so that an unfinished last event is no event."""
        if self._parser is None and self._undecided:
            self._start_whole(self._undecided)
        if self._parser is not None:
            self._close_stream(self._parser.close(), is_whole=is_whole)
        elif self._whole:
            self._read_whole(b"".join(self._whole))
        self._objects.close()
        self._trim_tail()
        self.reading.text = self._start_bytes.decode("utf-8", "replace")
        self.reading.text_tail = self._tail[0].decode("utf-8", "replace")
        return self.reading

    def _close_stream(self, items: list[Item], *, is_whole: bool) -> None:
        last = items[-1] if items else None
        if last is None or last.is_terminated:
            self._take(items)
            return
        self._take(items[:-1])
        is_event = last.data.strip() == DONE or _object_or_none(last.data) is not None
        if is_whole and is_event:
            self._take([last])
        else:
            self.reading.cut_piece = last.data[:EXCERPT_BYTES]
        self._settle_single_line()

    def _settle_single_line(self) -> None:
        """One JSON object on one line, without a label that says NDJSON, is simply JSON."""
        reading = self.reading
        if reading.framing is Framing.NDJSON and reading.events == 1 and not self._is_labelled:
            reading.framing, reading.first_event_ns = Framing.JSON, None
            reading.json_body = self._last_object

    def tail(self, chars: int) -> str:
        """The last characters that were said, for people who watch."""
        return self._objects.tail(chars)

    # --- framing ---

    def _decide(self, at_ns: int, data: bytes) -> None:
        """By the content type; where that says nothing, by the first bytes that are not blank."""
        self._undecided += data
        start = self._undecided.lstrip().removeprefix(BOM).lstrip()
        declared = self.reading.content_type
        if not start:
            return
        if declared in NDJSON_TYPES:
            self._start(Framing.NDJSON, NDJSONParser(self._line_bytes), at_ns)
        elif start.startswith((b"{", b"[", b"<")):
            self._guess_json(at_ns, start)
        elif declared == "text/event-stream" or start.startswith(SSE_STARTS):
            self._start(Framing.SSE, SSEParser(self._line_bytes), at_ns)
        elif len(start) >= max(map(len, SSE_STARTS)):
            self._start_whole(self._undecided)

    def _guess_json(self, at_ns: int, start: bytes) -> None:
        """An object that ends with its line may be the first of several: read it at once."""
        line, newline, _ = start.partition(b"\n")
        if newline and start[:1] == b"{" and _object_or_none(line.decode("utf-8", "replace")):
            self._start(Framing.NDJSON, NDJSONParser(self._line_bytes), at_ns)
        elif newline or start[:1] != b"{" or len(start) > FIRST_LINE_BYTES:
            self._start_whole(self._undecided)

    @property
    def _is_labelled(self) -> bool:
        return self.reading.content_type in NDJSON_TYPES

    def _start(self, framing: Framing, parser: SSEParser | NDJSONParser, at_ns: int) -> None:
        self.reading.framing = framing
        self._parser = parser
        data, self._undecided = self._undecided, b""
        self._feed_stream(parser, at_ns, data)

    def _start_whole(self, data: bytes) -> None:
        self._undecided = b""
        self.reading.leading_blanks = len(data) - len(data.lstrip())
        self._whole = [data]

    # --- streams ---

    def _feed_stream(self, parser: SSEParser | NDJSONParser, at_ns: int, data: bytes) -> None:
        """The whole way, and what it teaches about the chunks to come."""
        was_between, tokens_before = parser.is_between_items, len(self.reading.tokens)
        items = parser.feed(at_ns, data)
        self._take(items)
        is_token = len(items) == 1 and len(self.reading.tokens) == tokens_before + 1
        if not parser.is_between_items or self.reading.done_ns is not None:
            self._template = None
        elif was_between and is_token and self._last_object is not None:
            self._template = template_of(data, self._last_object) or self._template

    def _take(self, items: list[Item]) -> None:
        for item in items:
            if item.kind is LineKind.COMMENT:
                read_comment(self.reading, item.data)
            elif item.kind is LineKind.STRAY:
                self._stray(item)
            else:
                self._event(item)
        if self._parser is not None and self._parser.is_oversized:
            self.reading.is_oversized = True

    def _event(self, item: Item) -> None:
        reading, text = self.reading, item.data.strip()
        if not text:
            return
        reading.events += 1
        if reading.first_event_ns is None:
            reading.first_event_ns = item.at_ns
        reading.ends_unterminated = not item.is_terminated
        if text == DONE:
            reading.done_ns = reading.done_ns or item.at_ns
            return
        if reading.done_ns is not None:
            reading.events_after_done += 1
        self._parse(item, text)

    def _parse(self, item: Item, text: str) -> None:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            if item.event == "error":
                self._objects.add_error(item.at_ns, text[:1000], "error", text)
            else:
                self._resynchronise(item, text, str(error))
            return
        if isinstance(value, dict):
            self._objects.read(item.at_ns, value, item.event, text)
            self._last_object = value
        elif item.event == "error":
            self._objects.add_error(item.at_ns, str(value)[:1000], "error", text)
        else:
            self.reading.faults.append(Fault(item.at_ns, text[:EXCERPT_BYTES], "no JSON object"))

    def _resynchronise(self, item: Item, text: str, why: str) -> None:
        """A frame cut mid-object with the next one glued on: keep the fault, read the rest."""
        self.reading.faults.append(Fault(item.at_ns, text[:EXCERPT_BYTES], why))
        _, found, rest = text.partition("data:")
        if found and rest.strip():
            self._event(Item(LineKind.EVENT, item.at_ns, rest, item.event))

    def _stray(self, item: Item) -> None:
        """Outside any event: an error printed into the stream, or half of a broken one."""
        text = item.data.strip()
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and self._objects.read_error(
            item.at_ns, value, text, was_event=False
        ):
            return
        self.reading.faults.append(
            Fault(item.at_ns, text[:EXCERPT_BYTES], "a line outside any event")
        )

    # --- whole bodies ---

    def _read_whole(self, body: bytes) -> None:
        reading, at_ns = self.reading, self.reading.last_byte_ns or 0
        text = body.decode("utf-8", "replace").strip().removeprefix("\ufeff")
        if not text:
            return
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            self._read_lines_or_text(text)
            return
        reading.framing = Framing.JSON
        reading.json_body = value
        if isinstance(value, dict):
            self._objects.read(at_ns, value, "", text)

    def _read_lines_or_text(self, text: str) -> None:
        """Several JSON objects, one a line, are NDJSON with a wrong label."""
        lines = [line for line in text.splitlines() if line.strip()]
        values = [_object_or_none(line) for line in lines]
        if len(values) > 1 and values[0] is not None:
            self.reading.framing = Framing.NDJSON
            for line in lines:
                self._event(Item(LineKind.EVENT, self.reading.last_byte_ns or 0, line))
        else:
            self.reading.framing = Framing.TEXT

    def _trim_tail(self) -> None:
        """Keep what excerpts show. Bytes, since a block may end within a character."""
        kept = b"".join(self._tail)
        self._start_bytes = self._start_bytes or kept[:EXCERPT_BYTES]
        self._tail = [kept[-EXCERPT_BYTES:]]
        self._trim_at_bytes = self.reading.body_bytes + TAIL_BYTES


def _object_or_none(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
