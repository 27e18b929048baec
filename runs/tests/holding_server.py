"""An OpenAI-compatible server that says a few tokens and then holds the stream open."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "smollm2-135m"
FIRST_WORDS = ("The", " sky", " is")
PATIENCE_S = 60.0


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: HoldingServer

    def do_GET(self) -> None:
        if self.path.endswith("/models"):
            return self._json({"object": "list", "data": [{"id": MODEL, "object": "model"}]})
        return self._json({"error": {"message": "not here"}}, status=404)

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(asked)
        if asked.get("stream"):
            self._stream()
        else:
            self.server.released.wait(PATIENCE_S)
            self._json({"error": {"message": "given up"}}, status=500)

    def _stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for word in FIRST_WORDS:
            delta = {"choices": [{"index": 0, "delta": {"content": word}, "finish_reason": None}]}
            self._chunk(f"data: {json.dumps({'model': MODEL, **delta})}\n\n")
        self.server.held.set()
        self.server.released.wait(PATIENCE_S)
        self.close_connection = True

    def _chunk(self, text: str) -> None:
        body = text.encode()
        self.wfile.write(f"{len(body):x}\r\n".encode() + body + b"\r\n")
        self.wfile.flush()

    def _json(self, value: Any, status: int = 200) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet: pytest shows what matters."""


class HoldingServer(ThreadingHTTPServer):
    """`held` is set once a stream is open and holds; `released` lets every stream go."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.held = threading.Event()
        self.released = threading.Event()
        self.asked: list[dict[str, Any]] = []

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


@contextmanager
def holding_server() -> Iterator[HoldingServer]:
    server = HoldingServer()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        server.server_close()
