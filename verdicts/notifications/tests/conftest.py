"""A real receiver on a port of its own, a registered webhook, and one deployment."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from catalog.models import Artifact, Deployment, Host, Runtime


@dataclass
class Receiver:
    """What came, and the statuses to answer with, in order (the last one for ever)."""

    url: str = ""
    statuses: list[int] = field(default_factory=lambda: [200])
    came: list[tuple[dict[str, str], bytes]] = field(default_factory=list)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    known = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            known.came.append((dict(self.headers), body))
            status = known.statuses.pop(0) if len(known.statuses) > 1 else known.statuses[0]
            self.send_response(status)
            self.send_header("Location", f"{known.url}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    known.url = f"http://127.0.0.1:{server.server_port}/hook"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield known
    server.shutdown()
    server.server_close()
    thread.join(5)


@pytest.fixture
def deployment(db: None) -> Deployment:
    return Deployment.objects.create(
        slug="toy",
        artifact=Artifact.objects.create(name="Toy"),
        runtime=Runtime.objects.create(key="vllm", name="vLLM"),
        host=Host.objects.create(key="mini", name="Mini"),
    )
