"""Filtering the inventory: one light query, then facets, counts and order in memory.

A lab has tens to a few thousand deployments. Reading their handful of short columns once and
counting in Python is quicker, and easier to trust, than a query for each facet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.db.models import OuterRef, Subquery
from django.http import QueryDict

from catalog.models import Deployment
from runs.models import Run, RunState
from verdicts.models import Verdict, VerdictState

UNREVIEWED = "unreviewed"
VERDICT_WORDS = {**dict(VerdictState.choices), UNREVIEWED: "Unreviewed"}
FACETS = {
    "verdict": "Verdict",
    "runtime": "Runtime",
    "task": "Task",
    "size": "Size",
    "format": "Format",
    "host": "Host",
}
SORTS = ("verdict", "model", "runtime", "host", "last_run")
VIEWS = ("table", "matrix")
# What may be relied on first, what may not last.
VERDICT_ORDER = ("primary", "candidate", UNREVIEWED, "blocked", "rejected")
COLUMNS = {
    "id": "pk",
    "route": "canonical_route",
    "model": "artifact__name",
    "quantization": "artifact__quantization",
    "family": "artifact__family",
    "tune": "artifact__tune",
    "task": "artifact__task",
    "size": "artifact__size_label",
    "format": "artifact__format",
    "runtime": "runtime__key",
    "runtime_name": "runtime__name",
    "host": "host__key",
    "host_name": "host__name",
    "slug": "slug",
    "verdict": "verdict_state",
    "role": "verdict_role",
    "verdict_id": "verdict_id",
    "last_run": "last_run_id",
}
SEARCHED = (
    "route",
    "model",
    "quantization",
    "format",
    "runtime_name",
    "host_name",
    "role",
    "slug",
)


@dataclass(frozen=True, slots=True)
class InventoryQuery:
    """What is asked for; the address of the page says all of it."""

    text: str = ""
    chosen: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sort: str = "verdict"
    view: str = "table"
    archived: bool = False

    @classmethod
    def from_address(cls, data: QueryDict) -> InventoryQuery:
        """Unknown parameters and orders are ignored: an old link still opens."""
        chosen = {f: tuple(dict.fromkeys(v for v in data.getlist(f) if v)) for f in FACETS}
        sort, view = data.get("sort", ""), data.get("view", "")
        return cls(
            text=data.get("q", "").strip()[:200],
            chosen={facet: values for facet, values in chosen.items() if values},
            sort=sort if sort.removeprefix("-") in SORTS else "verdict",
            view=view if view in VIEWS else "table",
            archived=data.get("archived") == "1",
        )

    def encode(self, **changes: Any) -> str:
        """The query as part of an address, with some of it changed."""
        facts: dict[str, Any] = {
            "q": self.text,
            **self.chosen,
            "sort": "" if self.sort == "verdict" else self.sort,
            "view": "" if self.view == "table" else self.view,
            "archived": "1" if self.archived else "",
            **changes,
        }
        return urlencode({k: v for k, v in facts.items() if v}, doseq=True)

    def toggled(self, facet: str, value: str) -> tuple[str, ...]:
        """The chosen values of the facet with this one added or taken away."""
        chosen = self.chosen.get(facet, ())
        return tuple(v for v in chosen if v != value) if value in chosen else (*chosen, value)


@dataclass(frozen=True, slots=True)
class FacetValue:
    value: str
    label: str
    count: int
    is_chosen: bool
    toggle: str  # the address with this value added or removed


@dataclass(frozen=True, slots=True)
class Facet:
    key: str
    title: str
    values: list[FacetValue]

    @property
    def chosen_count(self) -> int:
        return sum(value.is_chosen for value in self.values)


IndexRow = dict[str, Any]


def index_rows(*, archived: bool) -> list[IndexRow]:
    """Every deployment with the columns that lists filter, count and sort by."""
    verdicts = Verdict.objects.filter(deployment=OuterRef("pk")).order_by("-decided_at", "-pk")
    finished = Run.objects.filter(deployment=OuterRef("pk"), state=RunState.FINISHED)
    deployments = (
        Deployment.objects.all() if archived else Deployment.objects.exclude(is_archived=True)
    )
    rows = (
        deployments.annotate(
            verdict_id=Subquery(verdicts.values("pk")[:1]),
            verdict_state=Subquery(verdicts.values("state")[:1]),
            verdict_role=Subquery(verdicts.values("role")[:1]),
            last_run_id=Subquery(finished.order_by("-pk").values("pk")[:1]),
        )
        .order_by("pk")
        .values_list(*COLUMNS.values())
    )
    return [_with_words(dict(zip(COLUMNS, row, strict=True))) for row in rows]


def _with_words(row: IndexRow) -> IndexRow:
    row["verdict"] = row["verdict"] or UNREVIEWED
    row["words"] = " ".join(str(row[name] or "") for name in SEARCHED).lower()
    return row


def matches(row: IndexRow, query: InventoryQuery, *, but: str = "") -> bool:
    """Whether a row is asked for; `but` leaves one facet out, to count its own values."""
    if not all(word in row["words"] for word in query.text.lower().split()):
        return False
    return all(row[f] in values for f, values in query.chosen.items() if f != but)


def filtered(rows: Iterable[IndexRow], query: InventoryQuery) -> list[IndexRow]:
    """The rows asked for, in the order asked for."""
    found = [row for row in rows if matches(row, query)]
    key = query.sort.removeprefix("-")
    found.sort(key=lambda row: (row["model"].lower(), row["quantization"], row["slug"]))
    found.sort(key=lambda row: _order(row, key), reverse=query.sort.startswith("-"))
    return found


def _order(row: IndexRow, key: str) -> Any:
    if key == "verdict":
        return VERDICT_ORDER.index(row["verdict"])
    if key == "last_run":
        return -(row["last_run"] or 0)  # newest first
    return str(row[key]).lower()


def facets(rows: list[IndexRow], query: InventoryQuery) -> list[Facet]:
    """Each facet with its values, counted under all the other choices."""
    return [_facet(facet, title, rows, query) for facet, title in FACETS.items()]


def _facet(facet: str, title: str, rows: list[IndexRow], query: InventoryQuery) -> Facet:
    counts = Counter(row[facet] for row in rows if matches(row, query, but=facet))
    labels = {row[facet]: row.get(f"{facet}_name") or row[facet] for row in rows}
    if facet == "verdict":
        labels = VERDICT_WORDS
    chosen = query.chosen.get(facet, ())
    values = [
        FacetValue(
            value=value,
            label=label,
            count=counts[value],
            is_chosen=value in chosen,
            toggle=query.encode(**{facet: query.toggled(facet, value)}),
        )
        for value, label in labels.items()
        if value
    ]
    if facet != "verdict":
        values.sort(key=lambda value: value.label.lower())
    return Facet(facet, title, values)


def chips(shown: list[Facet], query: InventoryQuery) -> list[tuple[str, str]]:
    """What is chosen, each with the address that takes it away."""
    found = [
        (f"{facet.title}: {value.label}", value.toggle)
        for facet in shown
        for value in facet.values
        if value.is_chosen
    ]
    known = {(facet.key, value.value) for facet in shown for value in facet.values}
    found += [
        (f"{FACETS[facet]}: {value}", query.encode(**{facet: query.toggled(facet, value)}))
        for facet, values in query.chosen.items()
        for value in values
        if (facet, value) not in known
    ]
    if query.text:
        found.append((f"Text: {query.text}", query.encode(q="")))
    return found
