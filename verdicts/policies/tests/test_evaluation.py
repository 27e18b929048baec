"""Each rule of what may count, one by one; and that nothing else ever turns a gate green."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verdicts.policies.evaluation import GateResult, evaluate
from verdicts.policies.evidence import (
    CampaignRecord,
    CheckRecord,
    Evidence,
    Identity,
    Ref,
    Subject,
    TrafficRecord,
    WaiverRecord,
)
from verdicts.policies.gates import (
    CANARY,
    GATEWAY,
    IDENTITY,
    JSON,
    MARKER,
    MEMORY,
    PROXY_QUEUE,
    SLOT_CAPACITY,
    SOAK,
    STREAM,
    TRAFFIC,
    Gate,
    fresh,
)

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
OURS, OTHER = "f" * 64, "0" * 64
SUBJECT = Subject("agent_route", 1, OURS, slots=4, context_total=32768, context_per_slot=8192)
LONG = fresh(131072)
DIRECT = Ref("run", 1, "d1")


def record(check: str, number: int = 7, **changes: Any) -> CheckRecord:
    """A sound one: clean check in a clean, verified, observed run of our revision, an hour old."""
    sound = CheckRecord(
        ref=Ref("run", number, f"d{number}"),
        revision_fingerprint=OURS,
        layer="direct",
        check=check,
        outcome="clean_pass",
        failure_class="",
        explanation="",
        run_outcome="clean_pass",
        run_failure_class="",
        finished_at=NOW - timedelta(hours=1),
        identity=Identity("verified", "verified", "Its process has the file open."),
        is_memory_observed=True,
    )
    return replace(sound, **changes)


def campaign(kind: str = "canary", number: int = 3, **changes: Any) -> CampaignRecord:
    sound = CampaignRecord(
        ref=Ref("campaign", number, f"c{number}"),
        kind=kind,
        revision_fingerprint=OURS,
        layer="direct",
        state="passed",
        explanation="60 of 60 cycles",
        is_rehearsal=False,
        started_at=NOW - timedelta(hours=3),
        finished_at=NOW - timedelta(hours=1),
        required_s=7200,
        duration_s=7200,
        covered_s=7200,
        coverage=1.0,
        completed=400,
    )
    return replace(sound, **changes)


def judged(gate: Gate, *records: CheckRecord, subject: Subject = SUBJECT) -> GateResult:
    return evaluate([gate], Evidence(checks=records), subject, NOW).gates[0]


def timed(gate: Gate, *records: CampaignRecord) -> GateResult:
    return evaluate([gate], Evidence(campaigns=records), SUBJECT, NOW).gates[0]


def test_sound_evidence_passes_and_says_what_n_and_how_old() -> None:
    found = judged(LONG, record("long", tokens=131072 - 96, ttft_ms=215_100.0))
    assert (found.state, found.evidence) == ("pass", (Ref("run", 7, "d7"),))
    assert found.sentence == ("Run 7 passed, 130,976 tokens, TTFT 215,100 ms, 1 h ago (n=1).")


def test_no_data_never_passes() -> None:
    for gate in (IDENTITY, STREAM, LONG, SLOT_CAPACITY, MEMORY, GATEWAY, CANARY):
        assert judged(gate).state == "missing"


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({"revision_fingerprint": OTHER}, "missing"),  # other revision, runtime, artifact, host
        ({"layer": "proxy"}, "missing"),  # other layer
        ({"check": "repeat"}, "missing"),  # a repeat shown as fresh
        ({"origin": "imported"}, "missing"),
        ({"origin": "claim"}, "missing"),
        ({"origin": "server"}, "missing"),
        ({"tokens": 65536}, "missing"),  # a smaller prompt
        ({"tokens": None}, "missing"),  # nobody knows how long it was
        ({"is_skipped": True}, "missing"),  # left out, since it did not fit
        ({"outcome": "degraded", "run_outcome": "degraded"}, "fail"),
        ({"outcome": "fail", "run_outcome": "fail"}, "fail"),
        ({"run_outcome": "degraded", "run_failure_class": "telemetry_gap"}, "inconclusive"),
        ({"run_outcome": "fail", "run_failure_class": "process_restarted"}, "inconclusive"),
        ({"outcome": "inconclusive", "run_outcome": "inconclusive"}, "inconclusive"),
        ({"finished_at": NOW - timedelta(days=31)}, "stale"),
    ],
)
def test_nothing_else_turns_a_gate_green(changes: dict[str, Any], state: str) -> None:
    sound = record("long", tokens=131072)
    assert judged(LONG, sound).state == "pass"
    assert judged(LONG, replace(sound, **changes)).state == state


def test_the_newest_that_tells_something_decides() -> None:
    good, bad = record("stream", 1), record("stream", 2, outcome="fail", run_outcome="fail")
    older = replace(bad, finished_at=NOW - timedelta(days=2))
    assert judged(STREAM, good, older).state == "pass"
    assert judged(STREAM, good, replace(bad, finished_at=NOW)).state == "fail"
    stopped = record("stream", 3, outcome="inconclusive", run_outcome="inconclusive")
    assert judged(STREAM, good, replace(stopped, finished_at=NOW)).state == "pass"


def test_a_minimum_count_is_of_runs_in_a_row() -> None:
    assert judged(MARKER, record("marker", 1), record("marker", 1)).state == "missing"
    three = [record("marker", n, finished_at=NOW - timedelta(hours=n)) for n in (1, 2, 3)]
    assert judged(MARKER, *three).state == "pass"
    broken = replace(three[1], outcome="fail", run_outcome="fail")
    found = judged(MARKER, three[0], broken, three[2])
    assert (found.state, found.sentence) == ("missing", "1 of 3 clean runs within 30 days.")


def test_thresholds_are_of_what_was_measured() -> None:
    quick = replace(STREAM, ttft_max_ms=500.0)
    assert judged(quick, record("stream", ttft_ms=400.0)).state == "pass"
    slow = judged(quick, record("stream", ttft_ms=900.0))
    assert (slow.state, "TTFT is 900 ms; 500 ms are allowed." in slow.sentence) == ("fail", True)
    assert judged(quick, record("stream")).state == "fail", "not measured is not quick"
    steady = replace(STREAM, decode_min_tps=20.0)
    assert judged(steady, record("stream", decode_tps=None)).state == "fail", "a burst has no rate"


@pytest.mark.parametrize(
    ("identity", "state"),
    [
        (Identity("verified", "verified"), "pass"),
        (Identity("alias_only", "alias_only"), "inconclusive"),
        (Identity("verified", "unverifiable"), "inconclusive"),
        (Identity("verified", "mismatch"), "fail"),
        (Identity(), "inconclusive"),
    ],
)
def test_an_alias_or_a_name_alone_is_no_identity(identity: Identity, state: str) -> None:
    assert judged(IDENTITY, record("identity", identity=identity)).state == state


def test_every_slot_means_every_slot_really_open_and_the_arithmetic_holds() -> None:
    assert judged(SLOT_CAPACITY, record("concurrency", clients=4)).state == "pass"
    assert judged(SLOT_CAPACITY, record("concurrency", clients=3)).state == "missing"
    unknown = replace(SUBJECT, slots=None)
    assert judged(SLOT_CAPACITY, record("concurrency", clients=8), subject=unknown).state == (
        "inconclusive"
    )
    wrong = judged(
        SLOT_CAPACITY, record("concurrency", clients=4), subject=replace(SUBJECT, context_total=9)
    )
    assert wrong.sentence.startswith("4 slots x 8,192 tokens = 32,768")


def test_memory_that_was_not_observed_or_crossed_a_guard_is_no_pass() -> None:
    assert judged(MEMORY, record("growth")).state == "pass"
    assert judged(MEMORY, record("growth", is_memory_observed=False)).state == "inconclusive"
    assert judged(MEMORY, record("growth", is_memory_tripped=True)).state == "fail"


def test_a_later_layer_is_not_counted_before_an_earlier_one() -> None:
    through = record("stream", layer="gateway")
    assert judged(GATEWAY, through).sentence.startswith("The direct layer comes first")
    assert judged(GATEWAY, through, record("marker", 8)).state == "pass"
    queue = record("concurrency", layer="proxy", clients=4)
    assert judged(PROXY_QUEUE, queue).state == "missing"


@pytest.mark.parametrize(
    ("changes", "state", "said"),
    [
        ({"is_rehearsal": True, "duration_s": 300}, "missing", "A rehearsal never counts"),
        ({"duration_s": 300}, "missing", "A rehearsal never counts"),
        ({"kind": "soak"}, "missing", "No canary"),
        ({"revision_fingerprint": OTHER}, "missing", "No canary"),
        ({"state": "failed", "explanation": "Two in a row."}, "fail", "Two in a row."),
        ({"state": "running", "finished_at": None, "covered_s": 3600}, "missing", "50% covered"),
        ({"state": "ended"}, "missing", "ended early"),
        ({"finished_at": NOW - timedelta(days=31)}, "stale", "30 days"),
    ],
)
def test_a_campaign_counts_only_whole_real_and_of_this_revision(
    changes: dict[str, Any], state: str, said: str
) -> None:
    assert timed(CANARY, campaign()).state == "pass"
    found = timed(CANARY, campaign(**changes))
    assert (found.state, said in found.sentence) == (state, True), found.sentence
    assert timed(SOAK, campaign()).state == "missing", "a canary is no soak"


def hour(completed: int, not_completed: int = 0, **changes: Any) -> TrafficRecord:
    sound = TrafficRecord(OURS, "proxy", NOW - timedelta(hours=2), completed, not_completed)
    return replace(sound, **changes)


@pytest.mark.parametrize(
    ("hours", "state"),
    [
        ([], "missing"),
        ([hour(600), hour(600)], "pass"),
        ([hour(999)], "missing"),
        ([hour(1000, 11)], "fail"),
        ([hour(2000, revision_fingerprint=OTHER)], "missing"),
        ([hour(2000, layer="gateway")], "missing"),
        ([hour(2000, start=NOW - timedelta(days=8))], "missing"),
    ],
)
def test_reported_traffic_is_a_gate_of_its_own_and_shipped_as_a_trial(
    hours: list[TrafficRecord], state: str
) -> None:
    evidence = Evidence(traffic=tuple(hours))
    assert evaluate([TRAFFIC], evidence, SUBJECT, NOW).gates[0].state == state
    assert not TRAFFIC.counts
    assert judged(STREAM).state == "missing", "and stands for no measurement"


def test_a_waiver_shows_what_it_hides_and_only_where_the_policy_allows_it() -> None:
    waiver = WaiverRecord(5, "agent_route", JSON.key, "abel", "Not used here.", NOW)
    found = evaluate([JSON], Evidence(waivers=(waiver,)), SUBJECT, NOW).gates[0]
    assert found.state == "waived"
    assert "Without it: missing." in found.sentence
    strict = replace(JSON, may_waive=False)
    assert evaluate([strict], Evidence(waivers=(waiver,)), SUBJECT, NOW).gates[0].state == (
        "missing"
    )


def test_the_digest_changes_with_evidence_revision_and_policy_and_not_with_time() -> None:
    evidence = Evidence(checks=(record("stream"),))
    first = evaluate([STREAM], evidence, SUBJECT, NOW).digest
    assert evaluate([STREAM], evidence, SUBJECT, NOW + timedelta(days=3)).digest == first
    changed = (
        evaluate([STREAM], Evidence(checks=(record("stream", 8),)), SUBJECT, NOW),
        evaluate([STREAM], evidence, replace(SUBJECT, policy_number=2), NOW),
        evaluate([STREAM], evidence, SUBJECT, NOW + timedelta(days=60)),
        evaluate([replace(STREAM, counts=False)], evidence, SUBJECT, NOW),
    )
    assert first not in {other.digest for other in changed}


unsound = st.fixed_dictionaries(
    {},
    optional={
        "revision_fingerprint": st.just(OTHER),
        "layer": st.sampled_from(["process", "gateway", "proxy"]),
        "origin": st.sampled_from(["imported", "claim", "server"]),
        "tokens": st.integers(0, 120_000),
        "outcome": st.sampled_from(["fail", "degraded", "inconclusive"]),
        "run_outcome": st.sampled_from(["fail", "degraded", "inconclusive"]),
        "is_skipped": st.just(True),
        "check": st.sampled_from(["repeat", "growth", "marker"]),
    },
).filter(bool)


@given(st.lists(unsound, max_size=5), st.integers(0, 100))
def test_no_pile_of_unsound_records_makes_a_gate_pass(
    piles: list[dict[str, Any]], hours: int
) -> None:
    records = [
        replace(
            record("long", number, tokens=131072),
            **{"finished_at": NOW - timedelta(hours=hours + number), **changes},
        )
        for number, changes in enumerate(piles)
    ]
    assert judged(LONG, *records).state != "pass"
