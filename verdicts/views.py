"""The inventory, one deployment, and the search."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe
from django_htmx.middleware import HtmxDetails

from catalog.claims import claims_about
from catalog.models import Deployment
from catalog.selectors import settings_of
from runs.explain import explain
from runs.ladder import ladder_of
from verdicts import inventory, selectors
from verdicts.export import inventory_csv
from verdicts.matrix import build_matrix
from verdicts.promotions.selectors import verdict_history
from verdicts.promotions.sentence import sentence_about

ROWS_ON_A_PAGE = 50


@require_safe
def inventory_page(request: HttpRequest) -> HttpResponseBase:
    """What do we have, what may we rely on?"""
    query = inventory.InventoryQuery.from_address(request.GET)
    index = inventory.index_rows(archived=query.archived)
    found = inventory.filtered(index, query)
    if request.GET.get("export") == "csv":
        return _csv(found)
    facets = inventory.facets(index, query)
    context = {
        "query": query,
        "total": len(index),
        "found": len(found),
        "facets": facets,
        "verdicts": facets[0],
        "chips": inventory.chips(facets, query),
        "sorts": _sort_links(query),
        "pager_query": f"{encoded}&" if (encoded := query.encode()) else "",
        "csv_query": query.encode(export="csv"),
        "table_query": query.encode(view=""),
        "matrix_query": query.encode(view="matrix"),
    }
    context |= _matrix(found, query) if query.view == "matrix" else _table(request, found)
    fragment = _wants_fragment(request)
    template = "verdicts/inventory_results.html" if fragment else "verdicts/inventory.html"
    response = render(request, template, context | {"is_fragment": fragment})
    if fragment:
        response["HX-Push-Url"] = f"{request.path}?{encoded}" if encoded else request.path
    patch_vary_headers(response, ["HX-Request"])
    return response


def _wants_fragment(request: HttpRequest) -> bool:
    htmx = getattr(request, "htmx", None)
    return isinstance(htmx, HtmxDetails) and bool(htmx) and not htmx.history_restore_request


def _table(request: HttpRequest, found: list[inventory.IndexRow]) -> dict[str, Any]:
    page = Paginator(found, ROWS_ON_A_PAGE).get_page(request.GET.get("page"))
    return {"page": page, "rows": selectors.inventory_rows(list(page.object_list))}


def _matrix(found: list[inventory.IndexRow], query: inventory.InventoryQuery) -> dict[str, Any]:
    return {"matrix": build_matrix(found, query)}


def _sort_links(query: inventory.InventoryQuery) -> dict[str, dict[str, str]]:
    """For each sortable column: the address of its next order, and the present direction."""
    links = {}
    for key in inventory.SORTS:
        target = f"-{key}" if query.sort == key else key
        direction = {key: "ascending", f"-{key}": "descending"}.get(query.sort, "")
        links[key] = {
            "query": query.encode(sort="" if target == "verdict" else target),
            "direction": direction,
        }
    return links


def _csv(found: list[inventory.IndexRow]) -> StreamingHttpResponse:
    """All rows asked for, not only the page shown."""
    return StreamingHttpResponse(
        inventory_csv(selectors.inventory_rows(found)),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="cleanpass-inventory.csv"'},
    )


@require_safe
def deployment_page(request: HttpRequest, slug: str) -> HttpResponse:
    """May this one be used, why not more?"""
    deployment = get_object_or_404(
        Deployment.objects.select_related("artifact", "runtime", "host"), slug=slug
    )
    revisions = list(deployment.revisions.select_related("runtime_build__runtime"))
    active = next((revision for revision in revisions if revision.is_active), None)
    verdicts = list(verdict_history(deployment))
    latest = verdicts[0] if verdicts else None
    endpoints = list(deployment.endpoints.filter(is_active=True))
    context = {
        "deployment": deployment,
        "revisions": revisions,
        "active": active,
        "settings": settings_of(active) if active else [],
        "verdict": latest,
        "verdicts": verdicts,
        "why": sentence_about(deployment, latest, at=timezone.now()),
        "failure": explain(latest.failure_class) if latest else None,
        "endpoints": endpoints,
        "figures": deployment.figures.all(),
        "recent_runs": selectors.recent_runs(deployment),
        "follow_ups": deployment.follow_ups.filter(is_open=True),
        "claims": claims_about(deployment),
        "proof": selectors.proof_level(deployment),
        "ladder": ladder_of(deployment, active),
        "names": deployment.artifact.aliases.all(),
    }
    return render(request, "verdicts/deployment.html", context)


@require_safe
def search_page(request: HttpRequest) -> HttpResponse:
    """Deployments, artifacts, and runs by their number."""
    text = request.GET.get("q", "").strip()[:200]
    return render(request, "verdicts/search.html", {"search_text": text, **selectors.search(text)})
