"""A server that takes memory on request: `python -m runs.memory.tests.hog PORT`.

The model name says how: `jump-300` takes 300 MiB at once, `grow-40` takes 40 MiB a second for as
long as its answer streams, `calm-0` takes none. Whoever hangs up gets his memory freed.
"""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MIB = 1024**2
MODELS = ("jump-300", "grow-40", "calm-0")
TOKEN_S = 0.05
ENDLESS, SHORT = 800, 20  # tokens


class Hog(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        models = [{"id": name, "object": "model"} for name in MODELS]
        body = json.dumps({"object": "list", "data": models}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        how, _, size = str(asked["model"]).partition("-")
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        held = [bytearray(int(size) * MIB)] if how == "jump" else []
        pause = threading.Event()
        try:
            for n in range(SHORT if how == "calm" else ENDLESS):
                if how == "grow":
                    held.append(bytearray(round(int(size) * MIB * TOKEN_S)))
                self.chunk({"content": f"{n} "}, None)
                pause.wait(TOKEN_S)
            self.chunk({}, "stop")
            self.raw(b"data: [DONE]\n\n")
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True
        finally:
            held.clear()

    def chunk(self, delta: dict[str, str], finish: str | None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        usage: dict[str, Any] = {"prompt_tokens": 9, "completion_tokens": 20, "total_tokens": 29}
        event = {"id": "1", "object": "chat.completion.chunk", "choices": [choice]}
        self.raw(f"data: {json.dumps(event | ({'usage': usage} if finish else {}))}\n\n".encode())

    def raw(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing to say."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Hog).serve_forever()
