"""The same answer is read the same, wherever the network cuts it."""

from __future__ import annotations

import asyncio
import gzip
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runs.engine.clock import now_ns
from runs.engine.plan import Limits
from runs.engine.records import Ending
from runs.engine.tests.wires import answer_to, says
from runs.engine.transport import Stamps, WireError
from runs.engine.transport.response import ResponseReader
from runs.engine.transport.wire import Turnstile, Wire

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
EVENTS = b'data: {"n":1}\n\ndata: {"n":"\xc3\xa9"}\n\ndata: [DONE]\n\n'
CHUNKS = b"%x\r\n" % 20 + EVENTS[:20] + b"\r\n" + b"%x\r\n" % (len(EVENTS) - 20) + EVENTS[20:]
ZIPPED = gzip.compress(EVENTS, mtime=0)
WIRES = {
    "chunked": OK + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKS + b"\r\n0\r\n\r\n",
    "cut short": OK + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKS,
    "broken": OK + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKS + b"\r\nzz\r\n",
    "sized": OK + b"Content-Length: %d\r\n\r\n" % len(EVENTS) + EVENTS,
    "until close": OK + b"\r\n" + EVENTS,
    "HTTP/1.0": b"HTTP/1.0 200 OK\r\n\r\n" + EVENTS,
    "interim": b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"\r\n" + EVENTS,
    "gzip": OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(ZIPPED) + ZIPPED,
    "no http": b"SSH-2.0-OpenSSH_9.6\r\n",
    "no answer": b"HTTP/1.1 20",
}


@dataclass(frozen=True, slots=True)
class Read:
    """What must not depend on the cuts."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes
    ending: Ending | str


def read_in_pieces(pieces: list[bytes]) -> Read:
    """Feed the pieces to the protocol as the event loop would, each in a block of its own."""

    async def work() -> Read:
        wire = Wire(Turnstile())
        feeding = asyncio.create_task(_feed(wire, pieces))
        reader = ResponseReader(wire, Limits(), Stamps(started_ns=now_ns()))
        try:
            await reader.read_head()
        except WireError as error:
            return Read(0, (), b"", type(error).__name__)
        finally:
            await feeding
        blocks = [block async for some in reader.body() for block in some]
        moments = [at_ns for at_ns, _ in blocks]
        assert moments == sorted(moments)
        body = b"".join(data for _, data in blocks)
        return Read(reader.status, tuple(reader.headers), body, reader.ending)

    return asyncio.run(work())


async def _feed(wire: Wire, pieces: list[bytes]) -> None:
    for piece in pieces:
        wire.get_buffer(-1)[: len(piece)] = piece
        wire.buffer_updated(len(piece))
        await asyncio.sleep(0)
    wire.connection_lost(None)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(place for place in places if place < len(data))})
    return [data[start:end] for start, end in pairwise(edges)]


WHOLE = {name: read_in_pieces([data]) for name, data in WIRES.items()}


@pytest.mark.parametrize("name", WIRES)
def test_a_single_cut_anywhere_changes_nothing(name: str) -> None:
    data = WIRES[name]
    for place in range(1, len(data)):
        assert read_in_pieces(cut(data, [place])) == WHOLE[name], place


@pytest.mark.parametrize("name", WIRES)
def test_a_cut_after_every_byte_changes_nothing(name: str) -> None:
    data = WIRES[name]
    assert read_in_pieces(cut(data, list(range(len(data))))) == WHOLE[name]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(WIRES)), st.lists(st.integers(1, 400), max_size=12))
def test_any_cuts_change_nothing(name: str, places: list[int]) -> None:
    assert read_in_pieces(cut(WIRES[name], places)) == WHOLE[name]


def test_the_whole_is_what_it_should_be() -> None:
    assert {name: read.ending for name, read in WHOLE.items()} == {
        "chunked": Ending.COMPLETE,
        "cut short": Ending.CLOSED_EARLY,
        "broken": Ending.PROTOCOL_ERROR,
        "sized": Ending.COMPLETE,
        "until close": Ending.EOF,
        "HTTP/1.0": Ending.EOF,
        "interim": Ending.EOF,
        "gzip": Ending.COMPLETE,
        "no http": "NotHTTP",
        "no answer": "NoResponse",
    }
    assert all(read.body == EVENTS for read in WHOLE.values() if read.status)


async def test_bytes_one_by_one_over_a_socket_are_read_the_same() -> None:
    data = WIRES["chunked"]
    answer = await answer_to(says(*cut(data, list(range(len(data))))))

    assert answer.body == EVENTS
    assert answer.ending is Ending.COMPLETE
