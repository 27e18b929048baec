from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from catalog.models import Deployment
from people.models import User
from people.tokens import make_token
from runs.traffic.models import Batch, Record
from runs.traffic.tests.conftest import Line

NDJSON = "application/x-ndjson"


def program(person: User, *scopes: str) -> Client:
    text = make_token(actor=person, name="test", scopes=scopes, days=1)[1]
    return Client(headers={"Authorization": f"Bearer {text}"})


def test_a_program_delivers_lines_and_reads_what_became_of_them(
    olive: User, deployment: Deployment, line: Line
) -> None:
    address = f"/api/v1/deployments/{deployment.slug}/traffic/"
    body = line(1) + b"nonsense\n" + line(2)
    client = program(olive, "campaign", "read")
    told = client.post(f"{address}?source=nginx", body, content_type=NDJSON).json()
    assert (told["lines"], told["accepted"], told["refused"]) == (3, 2, 1)
    assert told["refusals"] == [{"line": 2, "why": "not JSON in UTF-8"}]
    (batch,) = client.get(address).json()["results"]
    assert batch["accepted"] == 2 and batch["by_name"] == "olive" and len(batch["digest"]) == 64
    again = client.post(f"{address}?source=nginx", body, content_type=NDJSON).json()
    assert (again["accepted"], again["duplicates"]) == (0, 2)


def test_what_is_no_delivery_is_refused_with_the_reason(
    olive: User, vera: User, deployment: Deployment, line: Line
) -> None:
    address = f"/api/v1/deployments/{deployment.slug}/traffic/"
    client = program(olive, "campaign")
    assert client.post(address, line(), content_type=NDJSON).status_code == 400
    as_json = client.post(f"{address}?source=x", line(), content_type="application/json")
    assert as_json.status_code == 415
    process = client.post(f"{address}?source=x&layer=process", line(), content_type=NDJSON)
    assert process.status_code == 400
    lacking = program(olive, "read").post(f"{address}?source=x", line(), content_type=NDJSON)
    assert lacking.status_code == 403 and "campaign" in lacking.json()["detail"]
    viewer = program(vera, "campaign").post(f"{address}?source=x", line(), content_type=NDJSON)
    assert viewer.status_code == 403
    assert not Batch.objects.exists()


def test_the_command_takes_a_file_and_a_pipe_and_ends_with_one_when_lines_are_refused(
    deployment: Deployment, line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "records.ndjson"
    file.write_bytes(line(1) + line(2))
    out = io.StringIO()
    call_command("ingest_traffic", deployment.slug, str(file), as_json=True, stdout=out)
    assert json.loads(out.getvalue())["accepted"] == 2
    assert "command line" in Batch.objects.get().by_name
    pipe = io.TextIOWrapper(io.BytesIO(line(2) + line(3, route="nobody")))
    monkeypatch.setattr("sys.stdin", pipe)
    out = io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("ingest_traffic", deployment.slug, "-", stdout=out)
    assert ended.value.code == 1 and "line 2: the route is unknown" in out.getvalue()
    assert Record.objects.count() == 2
    with pytest.raises(CommandError, match="nowhere"):
        call_command("ingest_traffic", "nowhere", str(file))
