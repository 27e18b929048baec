"""The same trouble in other words and under other statuses is the same class."""

from __future__ import annotations

import pytest

from runs.engine.judge.errors import class_of_status, class_of_words

NOT_LOADED = (
    "model failed to load, this may be due to resource limitations or an internal error",
    "Model loading failed: ValueError",
    "llama runner process has terminated: error loading model: wrong number of tensors",
    "timed out waiting for llama runner to start - progress 0.00 - ",
    "Received 269 parameters not in model: \naudio.k_proj.biases,\nmemory.k_proj.scales.",
    "Missing 2 parameters: \nprojector.layer_norm.bias,\nprojector.layer_norm.weight.",
    "Missing parameters: model.layers.0.self_attn.q_norm.weight",
    "Expected shape (32000, 4096) but received shape (32000, 512) for parameter lm_head.weight",
    "size mismatch for model.embed_tokens.weight: copying a param with another shape",
    "Model type qwen9 not supported.",
    "engine core initialization failed. See root cause above.",
)
REQUEST_AT_FAULT = (
    "tool call arguments: Missing parameters: city",
    "Missing required parameter: 'messages'.",
    "Received unexpected parameters: foo",
    "Expected ',' or '}' but received a shape of JSON that is none",
)


@pytest.mark.parametrize("words", NOT_LOADED)
def test_a_model_that_cannot_be_loaded_is_told_by_many_words(words: str) -> None:
    assert class_of_words(words) == "init_failed"
    assert {class_of_status(status, words) for status in (400, 404, 500, 503)} == {"init_failed"}


@pytest.mark.parametrize("words", REQUEST_AT_FAULT)
def test_parameters_of_a_request_are_no_weights(words: str) -> None:
    assert class_of_status(400, words) == "http_4xx"


@pytest.mark.parametrize("status", [400, 404, 500, 502, 503])
def test_a_dead_runner_is_a_crash_whatever_the_status(status: int) -> None:
    words = "llama runner process has terminated: exit status 2"
    assert class_of_status(status, words) == "process_crash"


def test_memory_that_cannot_be_had_comes_before_the_load_that_failed_for_it() -> None:
    words = "runner has terminated: error loading model: unable to allocate backend buffer"
    assert class_of_words(words) == "memory_guard"
