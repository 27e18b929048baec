from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from runs.models import WorkerBeat
from runs.workers import alive_workers, start_beating, stop_beating
from tests.servers import eventually

pytestmark = pytest.mark.django_db(transaction=True)


def worker_of(*queues: str) -> Any:
    amqp = SimpleNamespace(queues=SimpleNamespace(consume_from=dict.fromkeys(queues)))
    return SimpleNamespace(hostname="measure@mini", app=SimpleNamespace(amqp=amqp))


def test_a_measuring_worker_says_that_it_is_alive_and_when_it_goes() -> None:
    start_beating(sender=worker_of("measure.lab-mini"))
    mine = alive_workers().filter(host_key="lab-mini")
    eventually(mine.exists, deadline_s=10, what="the worker is alive")
    stop_beating()
    assert not WorkerBeat.objects.exists()


def test_a_worker_of_ticks_is_no_hosts_worker() -> None:
    start_beating(sender=worker_of("ticks"))
    stop_beating()
    assert not WorkerBeat.objects.exists()
