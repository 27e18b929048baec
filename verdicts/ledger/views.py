"""The ledger: who decided what on which evidence, and whether the chain is whole."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from runs.views import person_of
from verdicts.ledger import selectors, services
from verdicts.ledger.export import json_lines
from verdicts.ledger.models import Entry, EntryKind

PER_PAGE = 50


@require_safe
def ledger_list(request: HttpRequest) -> HttpResponse:
    """Who decided what, and is the record whole?"""
    chosen = {name: request.GET.get(name, "") for name in ("kind", "person", "text")}
    kept = request.GET.copy()
    kept.pop("page", None)
    context = {
        "page": Paginator(selectors.entries(**chosen), PER_PAGE).get_page(request.GET.get("page")),
        "query": f"{kept.urlencode()}&" if kept else "",
        "chosen": chosen,
        "is_filtered": any(chosen.values()),
        "kinds": EntryKind.choices,
        "people": [(name, name) for name in selectors.people()],
    }
    return render(request, "ledger/list.html", context)


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
    answer = StreamingHttpResponse(json_lines(), content_type="application/jsonl")
    answer["Content-Disposition"] = 'attachment; filename="ledger.jsonl"'
    return answer
