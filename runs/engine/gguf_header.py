"""What a GGUF file's own header says of the memory that context takes. Needs no running server."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from gguf import GGUFReader

# Bytes of one element of a KV cache, by ggml type (blocks of 32 with their scales).
KV_TYPES = {
    "F32": 4.0,
    "F16": 2.0,
    "BF16": 2.0,
    "Q8_0": 34 / 32,
    "Q5_1": 24 / 32,
    "Q5_0": 22 / 32,
    "Q4_1": 20 / 32,
    "Q4_0": 18 / 32,
    "IQ4_NL": 18 / 32,
}
DEFAULT_KV = "F16"


class NotReadable(Exception):
    """Why the header tells nothing about a KV cache, in words for people."""


@dataclass(frozen=True, slots=True)
class KvShape:
    """Elements that one token adds to the KV cache over all layers, and in words from what."""

    elements_per_token: int
    words: str
    is_upper_bound: bool  # sliding windows hold less than the whole context
    file_bytes: int

    def bytes_per_token(self, kv_type: str) -> float:
        """llama.cpp's default is F16. Raises NotReadable for a type of another runtime."""
        size = KV_TYPES.get((kv_type or DEFAULT_KV).upper())
        if size is None:
            raise NotReadable(f"The size of the KV type {kv_type} is not known.")
        return self.elements_per_token * size


def kv_shape(path: str) -> KvShape:
    """Read a file's header. Raises NotReadable."""
    file = Path(path)
    try:
        found = file.stat()
    except OSError as error:
        raise NotReadable(f"{file.name} cannot be read here: {error.strerror}.") from error
    if file.suffix.lower() != ".gguf":
        raise NotReadable(f"{file.name} is no GGUF file.")
    return _read(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=32)
def _read(path: str, _modified_ns: int, size: int) -> KvShape:
    """Cached by path, time and size: reading a large vocabulary takes a second."""
    try:
        reader = GGUFReader(path)
    except (OSError, ValueError, KeyError, IndexError, OverflowError, MemoryError) as error:
        raise NotReadable(f"{Path(path).name} is not a readable GGUF file.") from error
    return _shape(lambda key: _field(reader, key), size)


def _field(reader: GGUFReader, key: str) -> Any:
    field = reader.get_field(key)
    return None if field is None else field.contents()


def _shape(get: Any, size: int) -> KvShape:
    """2 (keys and values) x layers x KV heads x head size, as llama.cpp allocates it.

    Heads may differ from layer to layer, and are 0 where a layer has no attention.
    """
    architecture = get("general.architecture")
    if get(f"{architecture}.attention.kv_lora_rank"):
        raise NotReadable(f"{architecture} compresses its KV cache: not computed from a header.")
    layers = get(f"{architecture}.block_count")
    heads = get(f"{architecture}.attention.head_count")
    if not layers or not heads:
        raise NotReadable(f"The header of {architecture or 'this file'} names no attention.")
    kv_heads = get(f"{architecture}.attention.head_count_kv")
    per_layer = _per_layer(heads if kv_heads is None else kv_heads, layers)
    head_size = (get(f"{architecture}.embedding_length") or 0) // max(_per_layer(heads, layers))
    key = get(f"{architecture}.attention.key_length") or head_size
    value = get(f"{architecture}.attention.value_length") or head_size
    counts = sorted(set(per_layer))
    told = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return KvShape(
        elements_per_token=sum(per_layer) * (key + value),
        words=f"{architecture}: {layers} layers, {told} KV heads of {key}",
        is_upper_bound=bool(get(f"{architecture}.attention.sliding_window")),
        file_bytes=size,
    )


def _per_layer(heads: int | list[int], layers: int) -> list[int]:
    return list(heads) if isinstance(heads, list) else [heads] * layers
