"""A model server that gives the right answer to every check, unless a test makes it worse."""

from __future__ import annotations

import base64
import json
import re
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "obedient"
DIMENSION = 8


@dataclass
class Obedient:
    """Change a field, or override a method, to make it misbehave."""

    model: str = MODEL
    token_s: float = 0.003  # between two events of a stream
    first_s: float = 0.0  # before anything of an answer is sent
    thinks: bool = False  # has a thinking switch, and obeys it
    ignores_switch: bool = False
    loading_answers: int = 0  # how many questions are answered with 503 first
    break_at: int | None = None  # request to the model that is reset in the middle
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)  # that came with a request to the model
    counting: threading.Lock = field(default_factory=threading.Lock)

    # --- what it says ---

    def answer(self, body: dict[str, Any]) -> str:
        messages = body["messages"]
        last = messages[-1]["content"]
        if messages[-1]["role"] == "tool":
            result = json.loads(last)
            return f"It is {result['celsius']} degrees in {result['city']}."
        if last.startswith("Repeat: "):
            return str(last.removeprefix("Repeat: "))
        if match := re.match(r"What is the key of (\w+)\?", last):
            told = "\n".join(str(m["content"]) for m in messages)
            found = re.search(rf"The key of {match[1]} is [^.]+\.", told)
            return found[0] if found else "I do not know."
        if match := re.match(r"City (\w+), celsius (\d+)", last):
            return json.dumps({"city": match[1], "celsius": int(match[2])})
        if last.startswith("Choose one"):
            properties = body["response_format"]["json_schema"]["schema"]["properties"]
            code, level = properties["code"]["enum"][0], properties["level"]["minimum"]
            return json.dumps({"code": code, "level": level})
        most = 2000 if "2000" in last else 20
        return ", ".join(str(number) for number in range(1, most + 1)) + "."

    def tool_call(self, body: dict[str, Any]) -> dict[str, Any] | None:
        last = body["messages"][-1]
        if not body.get("tools") or last["role"] != "user":
            return None
        city = re.sub(r"Weather in (\w+)\?", r"\1", last["content"])
        name = body["tools"][0]["function"]["name"]
        return {"name": name, "arguments": json.dumps({"city": city})}

    def reasoning(self, body: dict[str, Any]) -> str:
        on = body.get("chat_template_kwargs", {}).get("enable_thinking", False)
        return "Let me see." if self.thinks and (on or self.ignores_switch) else ""

    def vector(self, text: str) -> list[float]:
        words = text.lower().split()
        return [float(sum(len(w) % (n + 2) for w in words) + n + 1) for n in range(DIMENSION)]

    def score(self, query: str, document: str) -> float:
        return float(len(set(query.strip("?").split()) & set(document.split())))

    def usage(self, body: dict[str, Any], text: str) -> dict[str, Any]:
        prompt = sum(len(str(m.get("content", ""))) for m in body["messages"]) // 4
        completion = max(len(text) // 4, 1)
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }

    # --- how it says it ---

    def chat(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        """The deltas of an answer, then the finish."""
        call = self.tool_call(body)
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        if thought := self.reasoning(body):
            deltas.append({"reasoning_content": thought})
        if call:
            whole = {"index": 0, "id": "call_9", "type": "function", "function": call}
            return [*deltas, {"tool_calls": [whole]}]
        pieces = re.findall(r"\S+\s*", self.answer(body)) or [""]
        return [*deltas, *({"content": piece} for piece in pieces)]

    def embeddings(self, body: dict[str, Any]) -> dict[str, Any]:
        vectors = [self.vector(text) for text in body["input"]]
        packed = body.get("encoding_format") == "base64"
        data = [
            {
                "object": "embedding",
                "index": index,
                "embedding": in_base64(vector) if packed else vector,
            }
            for index, vector in enumerate(vectors)
        ]
        return {"object": "list", "model": self.model, "data": data, "usage": {}}

    def rerank(self, body: dict[str, Any]) -> dict[str, Any]:
        scored = [
            {"index": index, "relevance_score": self.score(body["query"], document)}
            for index, document in enumerate(body["documents"])
        ]
        return {"model": self.model, "results": scored}


def in_base64(vector: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


@contextmanager
def serving(model: Obedient) -> Iterator[str]:
    """Its base URL."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if model.loading_answers > 0:
                model.loading_answers -= 1
                self.send_json(503, {"error": {"message": "Loading model"}})
            elif self.path == "/v1/models":
                entry = {"id": model.model, "object": "model", "owned_by": "test"}
                self.send_json(200, {"object": "list", "data": [entry]})
            else:
                self.send_json(404, {"error": {"message": "not found"}})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with model.counting:  # several clients may ask at one moment
                self.number = len(model.asked)
                model.asked.append(body)
            model.keys += filter(None, [self.headers["authorization"]])
            if self.path == "/v1/embeddings":
                self.send_json(200, model.embeddings(body))
            elif self.path == "/v1/rerank":
                self.send_json(200, model.rerank(body))
            elif body["stream"]:
                self.stream(body)
            else:
                self.send_json(200, whole(model, body))

        def stream(self, body: dict[str, Any]) -> None:
            time.sleep(model.first_s)
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            events = [*stream_events(model, body), "[DONE]"]
            if self.number == model.break_at:
                events = events[:3]
            for event in events:
                try:
                    self.wfile.write(f"data: {event}\n\n".encode())
                    time.sleep(model.token_s)  # a model takes its time
                except OSError:
                    return  # the client hung up, as some checks do
            self.close_connection = True

        def send_json(self, status: int, value: Any) -> None:
            text = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing to say."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


def stream_events(model: Obedient, body: dict[str, Any]) -> Iterator[str]:
    about = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": model.model}
    text, finish = "", "stop"
    for delta in model.chat(body):
        text += delta.get("content", "")
        finish = "tool_calls" if "tool_calls" in delta else finish
        choice = {"index": 0, "delta": delta, "finish_reason": None}
        yield json.dumps({**about, "choices": [choice]})
    last = {"index": 0, "delta": {}, "finish_reason": finish}
    yield json.dumps({**about, "choices": [last]})
    yield json.dumps({**about, "choices": [], "usage": model.usage(body, text)})


def whole(model: Obedient, body: dict[str, Any]) -> dict[str, Any]:
    text = model.answer(body)
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    return {
        "id": "c1",
        "object": "chat.completion",
        "model": model.model,
        "choices": [choice],
        "usage": model.usage(body, text),
    }
