"""Whatever a server sends, an exchange ends in bounded time and memory."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import re
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count

import pytest

from runs.engine.exchange import perform
from runs.engine.judge import Contract, Expectation, decide, judge_request
from runs.engine.outcomes import Outcome
from runs.engine.plan import Deadlines, Limits
from runs.engine.reading import Reading
from runs.engine.records import Ending, Exchange, RequestSpec
from runs.engine.timeline import build_timeline, count_tokens
from runs.engine.transport import open_client

QUICK = Deadlines(connect_s=2, prefill_s=0.4, idle_s=0.4, total_s=0.8)
PATIENT = Deadlines(connect_s=2, prefill_s=20, idle_s=20, total_s=20)
SMALL = Limits(body_bytes=200_000, line_bytes=50_000, header_bytes=20_000)
SSE_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
JSON_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
TOKEN = b'data: {"choices":[{"index":0,"delta":{"content":"on and on "}}]}\n\n'
EMPTY_DELTA = b'data: {"choices":[{"index":0,"delta":{"content":""}}]}\n\n'

Feed = Callable[[asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(feed: Feed) -> AsyncIterator[str]:
    """A server that takes a request and then does as it likes."""
    writers: list[asyncio.StreamWriter] = []
    ended = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            await feed(writer)
        writer.close()
        ended.set()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for writer in writers:
            writer.close()
        await ended.wait()


def repeating(head: bytes, block: bytes | Callable[[int], bytes], pause_s: float = 0.0) -> Feed:
    """A head, then the same block for ever, or one made for each turn."""

    async def feed(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        for turn in count():
            if writer.is_closing():
                return
            writer.write(block if isinstance(block, bytes) else block(turn))
            await writer.drain()
            await asyncio.sleep(pause_s)

    return feed


def new_words(turn: int) -> bytes:
    """A token that was not said before: an endless answer need not repeat itself."""
    words = re.sub(r"\d", " ", hashlib.sha256(str(turn).encode()).hexdigest())
    return TOKEN.replace(b"on and on", words.encode())


def sending(data: bytes) -> Feed:
    async def feed(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()

    return feed


async def ask(
    feed: Feed, *, deadlines: Deadlines, limits: Limits = SMALL, stream: bool = True
) -> tuple[Exchange, Reading, tuple[Outcome, str, str]]:
    """One request to such a server, judged."""
    spec = RequestSpec("POST", "/v1/chat/completions", {"stream": stream}, stream, "chat", "x")
    async with (
        serving(feed) as url,
        open_client(base_url=url, connect_s=2, limits=limits) as client,
    ):
        async with asyncio.timeout(15):
            exchange, reading = await perform(client, spec, deadlines=deadlines, limits=limits)
    tokens = count_tokens(reading)
    timeline = build_timeline(exchange, reading, tokens)
    findings = judge_request(exchange, reading, timeline, tokens, Expectation(), Contract())
    return exchange, reading, decide(findings)


async def test_it_ends_an_endless_stream_at_our_own_limit() -> None:
    exchange, reading, (outcome, name, _) = await ask(
        repeating(SSE_HEAD, new_words), deadlines=PATIENT
    )
    assert exchange.ending is Ending.LIMIT
    assert reading.body_bytes <= SMALL.body_bytes
    assert (outcome, name) == (Outcome.INCONCLUSIVE, "probe_limit")


async def test_it_ends_an_endless_line() -> None:
    exchange, reading, (outcome, name, _) = await ask(
        repeating(SSE_HEAD + b"data: ", b"x" * 4096), deadlines=PATIENT
    )
    assert exchange.ending is Ending.LIMIT
    assert reading.body_bytes <= SMALL.line_bytes + 65_536 + 4096
    assert (outcome, name) == (Outcome.FAIL, "oversized")


async def test_it_ends_endless_headers() -> None:
    exchange, _, (outcome, name, _) = await ask(
        repeating(b"HTTP/1.1 200 OK\r\n", b"X-Filler: " + b"x" * 500 + b"\r\n"), deadlines=PATIENT
    )
    assert exchange.ending is Ending.LIMIT
    assert exchange.status is None
    assert (outcome, name) == (Outcome.FAIL, "oversized")


async def test_it_ends_an_endless_status_line() -> None:
    exchange, _, (outcome, _, _) = await ask(
        repeating(b"HTTP/1.1 200 ", b"O" * 1000), deadlines=PATIENT
    )
    assert exchange.ending in (Ending.LIMIT, Ending.PROTOCOL_ERROR)
    assert outcome is Outcome.FAIL


async def test_a_gzip_bomb_stays_small() -> None:
    """A body of 64 MB in 64 KB: neither unpacked nor kept."""
    bomb = gzip.compress(b" " * 64_000_000, 9)
    head = JSON_HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")
    tracemalloc.start()
    try:
        exchange, reading, (outcome, _, _) = await ask(
            sending(head + bomb), deadlines=PATIENT, stream=False
        )
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert exchange.ending is Ending.LIMIT
    assert reading.body_bytes <= SMALL.body_bytes
    assert peak_bytes < 8_000_000
    assert outcome is Outcome.INCONCLUSIVE


async def test_a_slow_drip_does_not_reset_the_first_clock() -> None:
    """A byte now and then is no token."""
    exchange, _, (outcome, name, _) = await ask(
        repeating(SSE_HEAD, b":", pause_s=0.05), deadlines=QUICK
    )
    assert exchange.ending is Ending.PREFILL_TIMEOUT
    assert (outcome, name) == (Outcome.FAIL, "stalled_prefill")


async def test_headers_that_drip_are_ended_too() -> None:
    exchange, _, (outcome, name, _) = await ask(
        repeating(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x", pause_s=0.05), deadlines=QUICK
    )
    assert exchange.ending is Ending.HEADERS_TIMEOUT
    assert (outcome, name) == (Outcome.FAIL, "stalled_prefill")


@pytest.mark.parametrize(
    "keep_alive",
    [b": keep-alive\n\n", b"\n\n", EMPTY_DELTA, b'data: {"prompt_progress":{"total":9}}\n\n'],
    ids=["comments", "blanks", "empty deltas", "progress"],
)
@pytest.mark.parametrize("after", [b"", TOKEN], ids=["before a token", "after a token"])
async def test_keep_alives_reset_no_clock(keep_alive: bytes, after: bytes) -> None:
    exchange, _, (outcome, name, _) = await ask(
        repeating(SSE_HEAD + after, keep_alive, pause_s=0.02), deadlines=QUICK
    )
    wanted = Ending.IDLE_TIMEOUT if after else Ending.PREFILL_TIMEOUT
    assert exchange.ending is wanted
    assert outcome is Outcome.FAIL
    assert name in (("stalled_decode",) if after else ("stalled_prefill", "partial_prefill"))


async def test_spaces_before_a_whole_answer_end_with_the_total_clock() -> None:
    exchange, _, (outcome, name, _) = await ask(
        repeating(JSON_HEAD, b" ", pause_s=0.02), deadlines=QUICK, stream=False
    )
    assert exchange.ending is Ending.TOTAL_TIMEOUT
    assert (outcome, name) == (Outcome.FAIL, "queue_stall")


async def test_tokens_without_end_are_stopped_by_the_total_clock() -> None:
    exchange, reading, (outcome, name, _) = await ask(
        repeating(SSE_HEAD, new_words, pause_s=0.05), deadlines=QUICK
    )
    assert exchange.ending is Ending.TOTAL_TIMEOUT
    assert reading.has_output
    assert (outcome, name) == (Outcome.FAIL, "incomplete_over_limit")


async def test_an_endless_answer_that_repeats_itself_is_named_by_that() -> None:
    exchange, _, (outcome, name, _) = await ask(repeating(SSE_HEAD, TOKEN), deadlines=PATIENT)
    assert exchange.ending is Ending.LIMIT
    assert (outcome, name) == (Outcome.FAIL, "repetition")


async def test_a_stream_that_stays_open_after_its_end_is_complete() -> None:
    """[DONE] is the end; waiting for the close would cost a minute each."""
    done = TOKEN + b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    done += b'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":3}}\n\n'
    exchange, _, (outcome, name, _) = await ask(
        repeating(SSE_HEAD + done + b"data: [DONE]\n\n", b"", pause_s=0.1),
        deadlines=Deadlines(connect_s=2, prefill_s=20, idle_s=20, total_s=20),
    )
    assert exchange.ending is Ending.COMPLETE
    assert exchange.lingered
    assert (outcome, name) == (Outcome.CLEAN_PASS, "")


async def test_json_too_deep_to_parse_is_only_a_bad_answer() -> None:
    exchange, _, (outcome, _, _) = await ask(
        sending(JSON_HEAD + b"[" * 100_000), deadlines=PATIENT, stream=False
    )
    assert exchange.ending is Ending.EOF
    assert outcome is Outcome.FAIL


async def test_huge_numbers_are_only_a_bad_answer() -> None:
    body = b'{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"usage":'
    body += b'{"prompt_tokens":1e400,"completion_tokens":' + b"9" * 6000 + b"}}"
    _, _, (outcome, _, _) = await ask(sending(JSON_HEAD + body), deadlines=PATIENT, stream=False)
    assert outcome is not Outcome.CLEAN_PASS


async def test_a_megabyte_of_answer_is_judged_at_once() -> None:
    """No pattern of the judge takes time that grows faster than the answer."""
    text = ("ab " * 300 + "\n<" * 50) * 900
    chunk = {"index": 0, "delta": {"content": text}, "finish_reason": "stop"}
    body = b"data: " + json.dumps({"choices": [chunk]}).encode() + b"\n\ndata: [DONE]\n\n"
    limits = Limits(body_bytes=8_000_000, line_bytes=4_000_000)
    loop = asyncio.get_running_loop()
    started = loop.time()
    await ask(sending(SSE_HEAD + body), deadlines=PATIENT, limits=limits)
    assert loop.time() - started < 10
