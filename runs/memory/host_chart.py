"""What each deployment on a host holds, against the host's memory."""

from __future__ import annotations

from runs.memory.residents import HostMemory
from runs.plots import Axis, Chart, Table, bars, build, bytes_unit
from runs.plots.units import said_bytes


def host_chart(memory: HostMemory, csv_url: str) -> Chart | None:
    """None while nothing on the host was ever seen."""
    seen = memory.seen
    if not seen:
        return None
    unit, name = bytes_unit(max(r.held_bytes or 0 for r in seen))
    x = [str(r.deployment) for r in seen]
    return Chart(
        key="host",
        title="Resident by deployment",
        sentence=sentence(memory),
        figure=build(
            [bars("Held", x, [(r.held_bytes or 0) / unit for r in seen])],
            x_title="deployment",
            axes=[Axis(name)],
        ),
        table=Table(
            ["Deployment", "Held", "Figure"],
            [[str(r.deployment), said_bytes(r.held_bytes or 0), r.figure] for r in seen],
        ),
        csv_url=csv_url,
    )


def sentence(memory: HostMemory) -> str:
    """How much of how much, and what is left."""
    n = len(memory.seen)
    told = (
        f"{n} of {len(memory.residents)} deployments {'was' if n == 1 else 'were'} seen and "
        f"{'holds' if n == 1 else 'hold'} {said_bytes(memory.held_bytes)}"
    )
    if memory.total_bytes:
        told += f" of {said_bytes(memory.total_bytes)}"
    if memory.available_bytes is not None:
        told += f"; {said_bytes(memory.available_bytes)} are available now"
    return f"{told}."
