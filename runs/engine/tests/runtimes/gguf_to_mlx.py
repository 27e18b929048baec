"""Writes the folder that mlx_lm.server wants from the demo's GGUF file: weights in float32, since
half precision is ten times slower on a CPU. Run by the Python that has mlx-lm:

    python gguf_to_mlx.py MODEL.gguf FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import gguf
import mlx.core as mx
import numpy as np
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

CONTROL = 3  # gguf's kind of token
NAMES = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_norm": "input_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "ffn_norm": "post_attention_layernorm",
}


def main(model: Path, folder: Path) -> None:
    reader = gguf.GGUFReader(model)
    config = read_config(reader)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    weights = {name_of(t.name): weight(t, config) for t in reader.tensors}
    mx.save_safetensors(str(folder / "model.safetensors"), weights, {"format": "mlx"})
    read_tokenizer(reader).save_pretrained(folder)


def read_config(reader: Any) -> dict[str, Any]:
    def told(key: str) -> Any:
        return reader.get_field(f"llama.{key}").contents()

    embeddings = next(t for t in reader.tensors if t.name == "token_embd.weight")
    return {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": told("embedding_length"),
        "intermediate_size": told("feed_forward_length"),
        "num_hidden_layers": told("block_count"),
        "num_attention_heads": told("attention.head_count"),
        "num_key_value_heads": told("attention.head_count_kv"),
        "rms_norm_eps": told("attention.layer_norm_rms_epsilon"),
        "rope_theta": told("rope.freq_base"),
        "max_position_embeddings": told("context_length"),
        "vocab_size": int(embeddings.shape[1]),
        "eos_token_id": reader.get_field("tokenizer.ggml.eos_token_id").contents(),
        "tie_word_embeddings": True,
    }


def read_tokenizer(reader: Any) -> Any:
    """Byte-level BPE that takes digits one by one, as SmolLM's does."""

    def told(key: str) -> Any:
        return reader.get_field(f"tokenizer.{key}").contents()

    tokens = told("ggml.tokens")
    merges = [tuple(merge.split(" ")) for merge in told("ggml.merges")]
    bpe = Tokenizer(models.BPE({token: n for n, token in enumerate(tokens)}, merges))
    bpe.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(False)]
    )
    bpe.decoder = decoders.ByteLevel()
    kinds = told("ggml.token_type")
    control = [t for t, kind in zip(tokens, kinds, strict=True) if kind == CONTROL]
    bpe.add_special_tokens([AddedToken(token, special=True) for token in control])
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        eos_token=tokens[told("ggml.eos_token_id")],
        bos_token=tokens[told("ggml.bos_token_id")],
        chat_template=told("chat_template"),
    )


def name_of(name: str) -> str:
    """`blk.3.attn_q.weight` is `model.layers.3.self_attn.q_proj.weight`."""
    *block, part, kind = name.split(".")
    layer = f"model.layers.{block[1]}." if block else ""
    return f"{layer}{NAMES[part]}.{kind}"


def weight(tensor: Any, config: dict[str, Any]) -> Any:
    values = gguf.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
    if "attn_q.weight" in tensor.name:
        values = unpermuted(values, config["num_attention_heads"])
    if "attn_k.weight" in tensor.name:
        values = unpermuted(values, config["num_key_value_heads"])
    return mx.array(values)


def unpermuted(values: Any, heads: int) -> Any:
    """llama.cpp interleaves the halves that its rotary embedding turns together."""
    rows, columns = values.shape
    pairs = values.reshape(heads, rows // heads // 2, 2, columns)
    return pairs.swapaxes(1, 2).reshape(rows, columns)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
