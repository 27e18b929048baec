"""Writes a rerank model of a few hundred kilobytes: random weights, real shape.

Good for trying the rerank path of a server out, and for nothing else. The file is GGUF version 3
(a header, key-value pairs, tensor descriptions, aligned data), a BERT of two layers.
"""

from __future__ import annotations

import math
import random
import struct
from array import array
from pathlib import Path
from typing import Any

ALIGNMENT = 32
UINT32, FLOAT32, BOOL, STRING, ARRAY = 4, 6, 7, 8, 9  # GGUF value types
WIDTH, LAYERS, HEADS, INNER, CONTEXT = 64, 2, 2, 128, 512
RANK_POOLING = 4
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
NORMAL_TOKEN, CONTROL_TOKEN = 1, 3
PIECES = tuple("abcdefghijklmnopqrstuvwxyz0123456789?.,")
WORD_START = "\u2581"

Tensor = tuple[str, tuple[int, ...], "array[float]"]


def write_reranker(path: Path, seed: int = 3) -> None:
    """The same seed gives the same file."""
    draw = random.Random(seed)
    tensors = list(all_tensors(draw))
    pairs = metadata()
    head = [b"GGUF", struct.pack("<IQQ", 3, len(tensors), len(pairs))]
    head += [text(key) + value for key, value in pairs.items()]
    offset, body = 0, bytearray()
    for name, shape, values in tensors:
        head.append(text(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape))
        head.append(struct.pack("<IQ", 0, offset))  # type 0: 32-bit floats
        body += padded(values.tobytes())
        offset = len(body)
    path.write_bytes(padded(b"".join(head)) + bytes(body))


def metadata() -> dict[str, bytes]:
    tokens = vocabulary()
    kinds = [CONTROL_TOKEN if t in SPECIAL else NORMAL_TOKEN for t in tokens]
    return {
        "general.architecture": string("bert"),
        "general.name": string("tiny random reranker"),
        "bert.context_length": uint(CONTEXT),
        "bert.embedding_length": uint(WIDTH),
        "bert.block_count": uint(LAYERS),
        "bert.feed_forward_length": uint(INNER),
        "bert.attention.head_count": uint(HEADS),
        "bert.attention.layer_norm_epsilon": struct.pack("<If", FLOAT32, 1e-12),
        "bert.attention.causal": struct.pack("<I?", BOOL, False),
        "bert.pooling_type": uint(RANK_POOLING),
        "tokenizer.ggml.model": string("bert"),
        "tokenizer.ggml.token_type_count": uint(2),
        "tokenizer.ggml.tokens": many(STRING, [text(t) for t in tokens]),
        "tokenizer.ggml.token_type": many(5, [struct.pack("<i", k) for k in kinds]),
        "tokenizer.ggml.padding_token_id": uint(0),
        "tokenizer.ggml.unknown_token_id": uint(1),
        "tokenizer.ggml.cls_token_id": uint(2),
        "tokenizer.ggml.bos_token_id": uint(2),
        "tokenizer.ggml.seperator_token_id": uint(3),
        "tokenizer.ggml.eos_token_id": uint(3),
        "tokenizer.ggml.mask_token_id": uint(4),
    }


def vocabulary() -> list[str]:
    """Every letter at the start of a word and inside one."""
    return [*SPECIAL, *(WORD_START + p for p in PIECES), *PIECES]


def all_tensors(draw: random.Random) -> Any:
    """Weights as llama.cpp names them; the first dimension is the contiguous one."""
    yield weight(draw, "token_embd.weight", WIDTH, len(vocabulary()))
    yield weight(draw, "token_types.weight", WIDTH, 2)
    yield weight(draw, "position_embd.weight", WIDTH, CONTEXT)
    yield from norm("token_embd_norm")
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            yield from linear(draw, f"{block}.{part}", WIDTH, WIDTH)
        yield from norm(f"{block}.attn_output_norm")
        yield from linear(draw, f"{block}.ffn_up", WIDTH, INNER)
        yield from linear(draw, f"{block}.ffn_down", INNER, WIDTH)
        yield from norm(f"{block}.layer_output_norm")
    yield from linear(draw, "cls", WIDTH, WIDTH)
    yield from linear(draw, "cls.output", WIDTH, 1)


def weight(draw: random.Random, name: str, inner: int, outer: int) -> Tensor:
    scale = 1 / math.sqrt(inner)
    return name, (inner, outer), array("f", (draw.gauss(0, scale) for _ in range(inner * outer)))


def linear(draw: random.Random, name: str, inner: int, outer: int) -> list[Tensor]:
    return [
        weight(draw, f"{name}.weight", inner, outer),
        (f"{name}.bias", (outer,), array("f", [0.0] * outer)),
    ]


def norm(name: str) -> list[Tensor]:
    return [
        (f"{name}.weight", (WIDTH,), array("f", [1.0] * WIDTH)),
        (f"{name}.bias", (WIDTH,), array("f", [0.0] * WIDTH)),
    ]


def text(value: str) -> bytes:
    encoded = value.encode()
    return struct.pack("<Q", len(encoded)) + encoded


def string(value: str) -> bytes:
    return struct.pack("<I", STRING) + text(value)


def uint(value: int) -> bytes:
    return struct.pack("<II", UINT32, value)


def many(kind: int, items: list[bytes]) -> bytes:
    return struct.pack("<IIQ", ARRAY, kind, len(items)) + b"".join(items)


def padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % ALIGNMENT)
