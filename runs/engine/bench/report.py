"""The bench's table, and its ratios to the floor."""

from __future__ import annotations

from runs.engine.bench.score import Score

COLUMNS = (
    f"{'load':<9} {'streams':>7} {'requests':>8}  {'client':<13} {'TTFT error ms':>25}  "
    f"{'mean-ITL error ms':>22}  {'open':>6}  {'CPU s/1000':>10}  {'peak MB':>7}"
)
UNDER = f"{'':<41}{'median':>8}{'p99':>9}{'max':>9} {'median':>7}{'p99':>8}{'max':>8}"


def heading() -> str:
    return f"{COLUMNS}\n{UNDER}"


def row(score: Score) -> str:
    ttft, itl = score.ttft_error_ms, score.itl_error_ms
    return (
        f"{_load(score):<9} {score.streams:>7} {score.requests:>8}  {score.client:<13} "
        f"{ttft.median:>7.2f}{ttft.p99:>9.2f}{ttft.max:>9.2f}  "
        f"{itl.median:>6.3f}{itl.p99:>8.3f}{itl.max:>8.3f}  {score.open_share:>6.1%}  "
        f"{score.cpu_s_per_1000_chunks:>10.4f}  {score.peak_bytes / 1e6:>7.0f}"
    )


def ratios(scores: list[Score]) -> str:
    """Every client's p99 and CPU as a multiple of the floor under the same load."""
    floors = {(s.streams, s.jitter): s for s in scores if s.client == "floor"}
    lines = ["", "times the floor       client          TTFT p99   ITL p99       CPU"]
    for s in scores:
        floor = floors.get((s.streams, s.jitter))
        if floor is not None and s is not floor:
            lines.append(
                f"{_load(s):<9} {s.streams:>7}     {s.client:<13}"
                f"{_times(s.ttft_error_ms.p99, floor.ttft_error_ms.p99):>10}"
                f"{_times(s.itl_error_ms.p99, floor.itl_error_ms.p99):>10}"
                f"{_times(s.cpu_s_per_1000_chunks, floor.cpu_s_per_1000_chunks):>10}"
            )
    return "\n".join(lines)


def _load(score: Score) -> str:
    return "jitter" if score.jitter else "lock-step"


def _times(value: float, floor: float) -> str:
    return f"{value / floor:.2f}" if floor else "-"
