"""TLS: a proper server, and the ways in which one can be improper."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
from pathlib import Path

import pytest

from runs.engine.plan import Limits
from runs.engine.records import Ending
from runs.engine.tests.wires import fetch, says, serving
from runs.engine.transport import TLSFailed, open_client, stamped

ANSWER = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    """A server's context with a certificate that nobody vouches for."""
    folder: Path = tmp_path_factory.mktemp("tls")
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    command += f" -keyout {folder}/key.pem -out {folder}/cert.pem"
    subprocess.run(command.split(), check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


async def test_a_certificate_that_nobody_vouches_for_is_refused(
    certificate: ssl.SSLContext,
) -> None:
    async with serving(says(ANSWER), tls=certificate) as url:
        with pytest.raises(TLSFailed, match="certificate"):
            await fetch(url)


async def test_it_reads_through_tls_when_told_not_to_verify(certificate: ssl.SSLContext) -> None:
    async with (
        serving(says(ANSWER), tls=certificate) as url,
        open_client(base_url=url, connect_s=5, limits=Limits(), verify=False) as client,
        client.stream("GET", "/") as response,
    ):
        stream = stamped(response)
        body = b"".join([data async for some in stream.stamped() for _, data in some])

    assert body == b"hello"
    assert stream.ending is Ending.COMPLETE


async def test_a_plain_server_behind_an_https_address_fails_in_tls() -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

    async with serving(script) as url:
        with pytest.raises(TLSFailed):
            await fetch(url.replace("http://", "https://"))


async def test_a_server_that_hangs_up_on_the_handshake_fails_in_tls() -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)

    async with serving(script) as url:
        with pytest.raises(TLSFailed):
            await fetch(url.replace("http://", "https://"))
