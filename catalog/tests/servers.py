"""Small servers on real sockets that answer as model servers, or as anything but."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LLAMA_CPP: dict[str, Any] = {
    "/health": {"status": "ok"},
    "/v1/models": {
        "object": "list",
        "data": [
            {
                "id": "heretic",
                "aliases": ["heretic"],
                "owned_by": "llamacpp",
                "meta": {"n_ctx": 8192, "size": 90_000_000, "n_params": 135_000_000},
            }
        ],
    },
    "/props": {
        "build_info": "b6123-abc",
        "total_slots": 4,
        "model_ftype": "Q4_K_M",
        "model_path": "/private/models/Heretic-27B.Q4_K_M.gguf",
        "default_generation_settings": {"n_ctx": 8192},
    },
}


@contextmanager
def serving(answers: dict[str, Any], *, token: str = "", name: str = "llama.cpp") -> Iterator[str]:
    """An HTTP server on a free port; a path's answer is JSON, or (status, type, text)."""

    class Handler(BaseHTTPRequestHandler):
        server_version, sys_version = name, ""

        def do_GET(self) -> None:
            if token and self.headers.get("Authorization") != f"Bearer {token}":
                self.reply(401, "application/json", '{"error": "no key"}')
            elif isinstance(answer := answers.get(self.path, (404, "text/plain", "")), tuple):
                self.reply(*answer)
            else:
                self.reply(200, "application/json", json.dumps(answer))

        def reply(self, status: int, kind: str, text: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def speaking(greeting: bytes) -> Iterator[str]:
    """A port that is no HTTP server: it says its greeting and nothing else."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def greet() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.sendall(greeting)

        thread = threading.Thread(target=greet)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()
