"""A rehearsal of minutes through a real proxy, with the server and the worker killed in it.

Run by `make test-runtimes`: it takes its time, as campaigns do.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.lab import Lab
from tests.nginx import nginx
from tests.servers import eventually, free_port

pytestmark = pytest.mark.runtimes

BEGIN = """
from catalog.models import Deployment, Endpoint
from people.models import User
from runs.campaigns.services import start_campaign
deployment = Deployment.objects.get(canonical_route="smollm2-135m")
Endpoint.objects.create(deployment=deployment, layer="proxy", base_url={address!r},
                        served_model="smollm2-135m")
print(start_campaign(actor=User.objects.get(username="admin"), deployment=deployment,
                     kind="soak", layer="proxy", basis="chat", rehearsal_s=480, cycle_s=40).pk)
"""
TELL = """
import json
from runs.campaigns.models import Campaign
from runs.campaigns.selectors import standing_of
campaign = Campaign.objects.get()
seen = standing_of(campaign)
print("TOLD", json.dumps(dict(
    state=campaign.state, why=campaign.explanation, coverage=seen.coverage,
    failed=seen.cycles_failed, gaps=[[gap.first, gap.last] for gap in seen.gaps],
    notes=[[note.kind, note.text] for note in campaign.notes.all()],
    cycles=[[c.number, c.state, c.outcome, c.failure_class] for c in campaign.cycles.all()])))
"""


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(tmp_path / "lab", env={"CLEANPASS_DEMO_PORT": str(free_port())})
    lab.start()
    yield lab
    lab.stop()


def python(lab: Lab, code: str) -> str:
    done = lab.manage("shell", "-c", code)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def told(lab: Lab) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(python(lab, TELL).partition("TOLD ")[2])
    return answer


def done(lab: Lab) -> int:
    return sum(state == "done" for _, state, _, _ in told(lab)["cycles"])


def kill(lab: Lab, words: str) -> None:
    """As a crash would: the process of this lab whose command line holds these words."""
    assert lab.process is not None
    family = psutil.Process(lab.process.pid).children(recursive=True)
    victim = next(p for p in family if words in " ".join(p.cmdline()))
    os.kill(victim.pid, signal.SIGKILL)


def test_a_rehearsal_through_a_proxy_tells_exactly_what_happened(lab: Lab, tmp_path: Path) -> None:
    upstream = f"http://127.0.0.1:{lab.environment['CLEANPASS_DEMO_PORT']}"
    with nginx(tmp_path / "nginx", upstream) as proxy:
        python(lab, BEGIN.format(address=f"{proxy}/v1"))
        eventually(lambda: done(lab) >= 3, deadline_s=240, what="three cycles")
        kill(lab, "demo.server")
        before = done(lab)
        eventually(lambda: done(lab) >= before + 3, deadline_s=240, what="cycles after that")
        kill(lab, "measure.")
        eventually(lambda: told(lab)["state"] not in ("running",), deadline_s=600, what="its end")
    record = told(lab)
    kinds = [kind for kind, _ in record["notes"]]
    assert kinds[0] == "started" and kinds[-1] == "finished"
    assert "server_restart" in kinds, record
    assert record["failed"] >= 1, "a server that was killed is no clean pass"
    assert record["why"].startswith("Rehearsal, never evidence:")
    outcomes = {(outcome, cause) for _, _, outcome, cause in record["cycles"] if outcome}
    assert ("clean_pass", "") in outcomes
