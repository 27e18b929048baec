"""A server over real sockets that gives recorded (or written) answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "wire_http"
NOT_FOUND: dict[str, Any] = {
    "status": 404,
    "headers": {"content-type": "text/plain"},
    "body": "not found",
}


def recorded(name: str) -> dict[str, Any]:
    """Answers by `METHOD /path`; `*` answers everything else."""
    answers: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())["answers"]
    return answers


@contextmanager
def serving(answers: dict[str, Any], protocol: str = "HTTP/1.1") -> Iterator[str]:
    """The root address of a server with these answers."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = protocol

        def reply(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            key = f"{self.command} {self.path}"
            answer: dict[str, Any] = answers.get(key) or answers.get("*") or NOT_FOUND
            body = answer["body"].encode()
            self.send_response_only(answer["status"])
            for name, value in answer["headers"].items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = reply

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing to say."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
