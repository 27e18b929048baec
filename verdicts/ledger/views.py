"""The ledger: who decided what on which evidence, and whether the chain is whole."""

from __future__ import annotations

import re

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from runs.views import person_of
from verdicts.ledger import selectors, services
from verdicts.ledger.export import stream
from verdicts.ledger.filters import EntryFilter
from verdicts.ledger.models import Entry, EntryKind

PER_PAGE = 50


@require_safe
def ledger_list(request: HttpRequest) -> HttpResponse:
    """Who decided what, and is the record whole?"""
    filters = EntryFilter(request.GET, Entry.objects.all())
    found = filters.qs if filters.is_valid() else Entry.objects.none()
    page = selectors.page_of(found, before=place(request.GET.get("before")), size=PER_PAGE)
    chosen = {name: request.GET.get(name, "") for name in EntryFilter.base_filters}
    context = {
        "entries": page.entries,
        "newest": address_of(request, None),
        "older": page.older and address_of(request, page.older),
        "chosen": chosen,
        "is_filtered": any(chosen.values()),
        "kinds": EntryKind.choices,
        "people": [(name, name) for name in selectors.people()],
        "deployments": selectors.deployments(),
    }
    return render(request, "ledger/list.html", context)


def place(text: str | None) -> int | None:
    """The number that a page goes on before. Raises Http404 for what no page wrote."""
    if text is None:
        return None
    if not re.fullmatch("[0-9]{1,18}", text):
        raise Http404("There is no such page.")
    return int(text)


def address_of(request: HttpRequest, before: int | None) -> str:
    """The same list, from another place on."""
    query = request.GET.copy()
    query.pop("before", None)
    if before is not None:
        query["before"] = str(before)
    return f"?{query.urlencode()}"


@require_safe
def ledger_entry(request: HttpRequest, seq: int) -> HttpResponse:
    """What exactly was recorded?"""
    return render(request, "ledger/entry.html", {"entry": get_object_or_404(Entry, seq=seq)})


@require_POST
def ledger_verify(request: HttpRequest) -> HttpResponse:
    found = services.verify_now(actor=person_of(request))
    if found.why:
        messages.error(request, f"The ledger is broken. {found.why}")
    else:
        messages.success(request, f"{found.entries:,} entries verified, none was changed.")
    return redirect("ledger-list")


@require_safe
def ledger_export(request: HttpRequest) -> StreamingHttpResponse:
    answer = StreamingHttpResponse(stream(), content_type="application/jsonl")
    answer["Content-Disposition"] = 'attachment; filename="ledger.jsonl"'
    return answer
