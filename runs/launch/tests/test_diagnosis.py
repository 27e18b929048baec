"""Last words of real servers, and what they mean."""

from __future__ import annotations

import pytest

from runs.launch.diagnosis import ended, explain


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("error: invalid argument: --ctx-chekpoints", "unknown_flag"),
        ("server.py: error: unrecognized arguments: --parallel 4", "unknown_flag"),
        ("OSError: [Errno 48] Address already in use", "port_taken"),
        ("srv start: couldn't bind HTTP server socket, hostname: 127.0.0.1", "port_taken"),
        (
            "ValueError: Expected shape (4096, 512) but received shape (4096, 8)",
            "shape_mismatch",
        ),
        ("check_tensor_dims: tensor 'blk.0.attn_k.weight' has wrong shape", "shape_mismatch"),
        ("ggml_metal: error: Insufficient Memory (kIOGPUCommandBufferError)", "out_of_memory"),
        ("torch.OutOfMemoryError: CUDA out of memory.", "out_of_memory"),
        ("ggml_aligned_malloc: failed to allocate 91.2 MB", "out_of_memory"),
        ("gguf_init_from_file: failed to open GGUF file 'x.gguf'", "file_missing"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'x'", "file_missing"),
        ("error loading model: unknown model architecture: 'qwen9'", "unsupported_model"),
        ("PermissionError: [Errno 13] Permission denied: '/models'", "not_permitted"),
    ],
)
def test_it_knows_the_cause_and_shows_the_line(line: str, key: str) -> None:
    meaning = explain(["loading model", line, "exiting"], 1)
    assert (meaning.key, meaning.line) == (key, line)
    assert meaning.sentence.endswith(".")


def test_it_takes_a_kill_without_words_for_want_of_memory() -> None:
    assert explain(["loading"], -9).key == "killed"


def test_it_claims_nothing_where_nothing_tells() -> None:
    assert explain(["loading", "llama_memory: 4 slots"], 1).key == "unknown"


def test_it_says_how_it_ended() -> None:
    assert ended(2) == "It ended with exit code 2"
    assert ended(-9) == "It ended by signal SIGKILL"
    assert ended(None) == "It did not get ready in time"
