"""However the network cuts a body, the reading is the same."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from runs.engine.reading import BodyReader

LINE_BYTES = 1 << 20


def chunk(delta: dict[str, Any], **more: Any) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": more.pop("finish", None)}
    return json.dumps({"model": "m", "choices": [choice], **more}, ensure_ascii=False)


USAGE = json.dumps({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}})
DELTAS = [
    chunk({"role": "assistant", "content": None}),
    chunk({"reasoning_content": "Händel… 🎼"}),
    chunk({"content": "Grüße\u2028 aus\u0085Köln\r\n"}),
    chunk({"content": "data: [DONE]\n\nevent: x"}),
    chunk({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": "{"}}]}),
    chunk({"tool_calls": [{"index": 0, "function": {"arguments": "}"}}]}, finish="tool_calls"),
    USAGE,
    "[DONE]",
]


def sse(end: str, *, space: str = " ") -> bytes:
    lines = [f": keep-alive{end}{end}retry: 3000{end}id: 7{end}{end}"]
    lines += [f"event: message{end}data:{space}{data}{end}{end}" for data in DELTAS]
    return "".join(lines).encode()


ERROR_INSIDE = (
    f"data: {DELTAS[1]}\n\n" + 'data: {"error":{"message":"out of memory","code":500}}\n\n'
).encode()
HEARTBEAT_INSIDE = b'data: {"choices":[{"del\n\n: keep-alive\n\nta":{"content":"a"}}]}\n\n'
SEVERAL_LINES = b'data: {"choices":\ndata: [{"index":0,"delta":\ndata: {"content":"ab"}}]}\n\n'
NO_END = sse("\n").rstrip(b"\n")
CUT = sse("\n")[:-60]
NATIVE = b"".join(
    json.dumps(line, ensure_ascii=False).encode() + b"\n"
    for line in (
        {"model": "m", "message": {"role": "assistant", "content": "Grüß"}, "done": False},
        {"model": "m", "message": {"content": " 🎼"}, "done": False},
        {"model": "m", "message": {"content": ""}, "done": True, "done_reason": "stop"},
    )
)
WHOLE = (
    b"   \n "
    + json.dumps(
        {"choices": [{"message": {"content": "Grüße 🎼"}, "finish_reason": "stop"}]},
        ensure_ascii=False,
    ).encode()
)
PAGE = "<html><body>Gateway überlastet</body></html>".encode()

STREAM, LINES, JSON = "text/event-stream", "application/x-ndjson", "application/json"
BODIES = {
    "lf": (STREAM, sse("\n")),
    "crlf": (STREAM, sse("\r\n")),
    "cr": (STREAM, sse("\r")),
    "no space after the colon": (STREAM, sse("\n", space="")),
    "byte order mark": (STREAM, b"\xef\xbb\xbf" + sse("\n")),
    "several data lines": (STREAM, SEVERAL_LINES),
    "no blank line at the end": (STREAM, NO_END),
    "cut inside an event": (STREAM, CUT),
    "error inside": (STREAM, ERROR_INSIDE),
    "heartbeat inside an event": (STREAM, HEARTBEAT_INSIDE),
    "stray error line": (STREAM, b'{"error":{"message":"too long"}}\n'),
    "unlabelled stream": ("", sse("\n")),
    "mislabelled stream": (JSON, sse("\r\n")),
    "ndjson": (LINES, NATIVE),
    "ndjson labelled as json": (JSON, NATIVE),
    "one whole body": (JSON, WHOLE),
    "broken utf-8": (STREAM, b'data: {"choices":[{"delta":{"content":"a\xff\xc3"}}]}\n\n'),
    "a page": ("text/html", PAGE),
}


def read(content_type: str, blocks: list[bytes]) -> dict[str, Any]:
    """The reading without its moments: those may differ with the cuts."""
    reader = BodyReader(content_type=content_type, line_bytes=LINE_BYTES)
    for at_ns, block in enumerate(blocks, start=1):
        if block:
            reader.feed([(at_ns, block)])
    found = _timeless(asdict(reader.close()))
    assert isinstance(found, dict)
    return found


def _timeless(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        kept = {k: _timeless(v) for k, v in value.items() if not k.endswith("_ns")}
        return kept | {k: v is not None for k, v in value.items() if k == "done_ns"}
    return [_timeless(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", BODIES)
def test_one_cut_at_every_byte_changes_nothing(name: str) -> None:
    content_type, body = BODIES[name]
    whole = read(content_type, [body])
    for place in range(1, len(body)):
        assert read(content_type, [body[:place], body[place:]]) == whole, place


@pytest.mark.parametrize("name", BODIES)
def test_byte_by_byte_is_the_same_too(name: str) -> None:
    content_type, body = BODIES[name]
    assert read(content_type, [bytes([b]) for b in body]) == read(content_type, [body])


@settings(max_examples=150, deadline=None)
@given(name=st.sampled_from(sorted(BODIES)), data=st.data())
def test_many_cuts_change_nothing(name: str, data: st.DataObject) -> None:
    content_type, body = BODIES[name]
    places = st.lists(st.integers(0, len(body)), max_size=12)
    cuts = [0, *sorted(data.draw(places)), len(body)]
    blocks = [body[a:b] for a, b in pairwise(cuts)]
    assert read(content_type, blocks) == read(content_type, [body])


@settings(max_examples=200, deadline=None)
@given(
    body=st.binary(max_size=400),
    content_type=st.sampled_from([STREAM, LINES, JSON, ""]),
    place=st.integers(0, 400),
)
@example(body=b"[" * 100_000, content_type=JSON, place=5)
@example(body=b"data: " + b"[" * 100_000 + b"\n\n", content_type=STREAM, place=9)
@example(body=b'{"choices":[{"delta":{"content":NaN}}]}', content_type=JSON, place=3)
def test_no_body_raises_and_no_cut_matters(body: bytes, content_type: str, place: int) -> None:
    assert read(content_type, [body[:place], body[place:]]) == read(content_type, [body])


def test_the_texts_come_out_whole() -> None:
    found = read(*_only("crlf"))
    assert found["content"] == "Grüße\u2028 aus\u0085Köln\r\ndata: [DONE]\n\nevent: x"
    assert found["reasoning"] == "Händel… 🎼"
    assert [(c["name"], c["arguments"]) for c in found["tool_calls"]] == [("f", "{}")]
    assert found["usages"] == [{"prompt_tokens": 9, "completion_tokens": 4}]
    assert found["faults"] == []
    assert found["done_ns"] is True


def _only(name: str) -> tuple[str, list[bytes]]:
    content_type, body = BODIES[name]
    return content_type, [body]
