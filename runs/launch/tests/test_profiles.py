"""Ready-made profiles and the pages: what is shown is what would be started."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.test import Client

from catalog.models import Deployment
from catalog.runtimes import RUNTIMES, ensure_runtime
from people.models import User
from runs.launch.arguments import Parameters
from runs.launch.models import Launch, LaunchProfile
from runs.launch.services import (
    check_profile,
    command_of,
    ensure_ready_made_profiles,
    resolve,
    resolve_variables,
    save_profile,
)

ALL = Parameters(
    parallel=8,
    context_per_slot=131_072,
    kv_type="f16",
    prompt_cache_mib=0,
    checkpoints=2,
    model_path="/models/a model; rm -rf $HOME",
    port=9000,
)


def test_every_runtime_has_a_profile_that_fills_and_keeps_the_path_one_argument(
    profiles: None,
) -> None:
    made = {profile.runtime.key: profile for profile in LaunchProfile.objects.all()}
    assert set(made) == set(RUNTIMES) - {"openai"}
    for profile in LaunchProfile.objects.all():
        check_profile(profile)
        argv, variables = resolve(profile, ALL), resolve_variables(profile, ALL)
        if "{model_path}" in profile.arguments:
            assert ALL.model_path in argv
        passed = " ".join([*argv, *variables.values()])
        assert "9000" in passed or profile.by_hand
        assert "{" not in passed


def test_llama_cpp_gets_the_whole_pool(profiles: None) -> None:
    argv = resolve(LaunchProfile.objects.get(key="llama-cpp"), ALL)
    assert argv[argv.index("--ctx-size") + 1] == "1048576"
    assert argv[argv.index("--parallel") + 1] == "8"


def test_an_edited_profile_stays_as_it_is(profiles: None, ada: User) -> None:
    profile = LaunchProfile.objects.get(key="vllm")
    profile.ready_s = 7
    save_profile(actor=ada, profile=profile)
    ensure_ready_made_profiles()
    assert LaunchProfile.objects.get(key="vllm").ready_s == 7


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("arguments", ["--port", "{port}", "{nonsense}"], "no parameter {nonsense}"),
        ("arguments", ["--api-key=abc", "{port}"], "environment variable"),
        ("arguments", ["--no-port"], "use {port}"),
        ("program", "sh {model_path}", "without places"),
        ("variables", {"LD_PRELOAD": "x.so"}, "not passed to programs"),
        ("variables", {"BAD NAME": "x"}, "no name of an environment variable"),
        ("inherited", ["CLEANPASS_SECRET_KEY"], "not passed to programs"),
        ("inherited", ["DATABASE_URL"], "not passed to programs"),
    ],
)
def test_it_refuses_a_profile_that_could_not_be_safe(
    profiles: None, ada: User, field: str, value: Any, words: str
) -> None:
    profile = LaunchProfile.objects.get(key="demo")
    setattr(profile, field, value)
    with pytest.raises(ValidationError) as refused:
        save_profile(actor=ada, profile=profile)
    assert words in " ".join(refused.value.messages)


def test_only_admins_store_profiles(profiles: None, olive: User) -> None:
    with pytest.raises(PermissionDenied):
        save_profile(actor=olive, profile=LaunchProfile.objects.get(key="demo"))


def test_it_lends_only_the_variables_that_are_named(profiles: None) -> None:
    profile = LaunchProfile.objects.get(key="vllm")
    environment = {"HF_HOME": "/models/hub", "DATABASE_URL": "secret", "OTHER": "x"}
    command = command_of(profile, ALL, environment)
    assert command.environment == {"HF_HOME": "/models/hub"}


# --- pages ---------------------------------------------------------------------------------------


def page(client: Client, path: str, **query: Any) -> str:
    answer = client.get(path, query)
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def test_viewers_see_every_profile_and_no_button(
    client: Client, vera: User, profiles: None
) -> None:
    client.force_login(vera)
    text = page(client, "/launch-profiles/")
    assert "vLLM-Metal (vllm serve)" in text
    assert "/launch-profiles/new/" not in text
    assert client.get("/launch-profiles/new/").status_code == 403
    assert client.post("/launch-profiles/demo/edit/", {}).status_code == 403


def test_the_preview_shows_a_hostile_value_as_one_argument(
    client: Client, vera: User, profiles: None
) -> None:
    client.force_login(vera)
    hostile = "/m <b> --host 0.0.0.0; $(id)"
    given = {"parallel": 8, "context_per_slot": 131072, "kv_type": "f16", "checkpoints": 0}
    text = page(
        client,
        "/launch-profiles/llama-cpp/",
        **given,
        prompt_cache_mib=0,
        model_path=hostile,
    )
    assert "<td><code>/m &lt;b&gt; --host 0.0.0.0; $(id)</code></td>" in text
    assert "<td><code>1048576</code></td>" in text
    assert "'/m &lt;b&gt;" in text or "&#x27;/m &lt;b&gt;" in text, "quoted for a terminal"


def test_the_preview_tells_what_is_wrong_with_a_value(
    client: Client, vera: User, profiles: None
) -> None:
    client.force_login(vera)
    text = page(client, "/launch-profiles/demo/", parallel=0, context_per_slot=512)
    assert "greater than or equal to 1" in text
    assert "<table" not in text.split("What would be started")[1].split("</section>")[0]


def test_a_profile_started_by_hand_says_why(client: Client, vera: User, profiles: None) -> None:
    client.force_login(vera)
    assert "no process of ours" in page(client, "/launch-profiles/lm-studio/")


def test_an_admin_edits_and_the_arguments_stay_lines(
    client: Client, ada: User, profiles: None
) -> None:
    client.force_login(ada)
    form = {
        "key": "mine",
        "name": "Mine",
        "runtime": ensure_runtime("llama.cpp").pk,
        "program": "llama-server",
        "arguments": "--port\r\n{port}\r\n--name with spaces\r\n",
        "variables": "LLAMA_ARG_THREADS=4",
        "inherited": "HF_HOME",
        "ready_s": 60,
        "stop_signal": "SIGINT",
        "grace_s": 3,
    }
    answer = client.post("/launch-profiles/new/", form)
    assert answer.status_code == 302, answer.content.decode()
    mine = LaunchProfile.objects.get(key="mine")
    assert mine.arguments == ["--port", "{port}", "--name with spaces"]
    assert mine.variables == {"LLAMA_ARG_THREADS": "4"}
    assert mine.updated_by == ada
    again = client.post("/launch-profiles/mine/edit/", {**form, "arguments": "{what}"})
    assert again.status_code == 422
    assert "no parameter {what}" in again.content.decode()


def test_a_launch_shows_its_last_words_escaped(
    client: Client, vera: User, profiles: None, deployment: Deployment
) -> None:
    client.force_login(vera)
    launch = Launch.objects.create(
        profile=LaunchProfile.objects.get(key="demo"),
        deployment=deployment,
        host=deployment.host,
        mark="m",
        worker_pid=1,
        state="failed",
        failure_class="init_failed",
        explanation="It ended with exit code 1. The port is taken.",
        log_tail=["<script>alert(1)</script>"],
    )
    text = page(client, f"/launches/{launch.pk}/")
    assert "The port is taken" in text
    assert "&lt;script&gt;alert(1)" in text
    assert f"/launches/{launch.pk}/" in page(client, "/launch-profiles/demo/")
