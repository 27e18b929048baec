"""The inbox with its subscriptions, and the admins' webhooks with their deliveries."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from people.access import Action, require
from runs.views import person_of
from verdicts.notifications import services
from verdicts.notifications.forms import SubscriptionForm, WebhookForm
from verdicts.notifications.models import Delivery, InboxItem, Kind, Subscription, Webhook

PER_PAGE = 30


@require_safe
def inbox(request: HttpRequest) -> HttpResponse:
    """What happened that I wanted to know?"""
    person = person_of(request)
    items = InboxItem.objects.filter(user=person).select_related("notice__deployment__artifact")
    if request.GET.get("show") == "unread":
        items = items.filter(read_at=None)
    wanted = Subscription.objects.filter(user=person).select_related("deployment__artifact")
    general = [row.kind for row in wanted if row.deployment_id is None]
    context = {
        "page": Paginator(items, PER_PAGE).get_page(request.GET.get("page")),
        "only_unread": request.GET.get("show") == "unread",
        "query": "show=unread&" if request.GET.get("show") == "unread" else "",
        "form": SubscriptionForm(initial={"kinds": general}),
        "subscriptions": wanted,
    }
    return render(request, "notifications/inbox.html", context)


@require_POST
def inbox_read(request: HttpRequest) -> HttpResponse:
    """Mark one as read, or all."""
    text = request.POST.get("item", "")
    item_id = int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None
    if text and item_id is None:
        return redirect("inbox")
    services.mark_read(actor=person_of(request), item_id=item_id)
    return redirect("inbox")


@require_POST
def subscriptions(request: HttpRequest) -> HttpResponse:
    """Exactly the chosen kinds from now on, of that deployment or of all."""
    form = SubscriptionForm(request.POST)
    if not form.is_valid():
        messages.error(request, "There is no such kind or deployment.")
        return redirect("inbox")
    wanted = services.subscribe(actor=person_of(request), **form.cleaned_data)
    of = form.cleaned_data["deployment"] or "all deployments"
    names = ", ".join(Kind(kind).label.lower() for kind in wanted) or "nothing"
    messages.success(request, f"Of {of} you are told: {names}.")
    return redirect("inbox")


@require_http_methods(["GET", "HEAD", "POST"])
def webhooks(request: HttpRequest) -> HttpResponse:
    """Where are notices sent, and did they arrive?"""
    require(person_of(request), Action.EDIT_WEBHOOK)
    form = WebhookForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            services.add_webhook(actor=person_of(request), **form.cleaned_data)
        except ValidationError as refused:
            form.add_error(None, "; ".join(refused.messages))
        else:
            messages.success(request, "The webhook is registered.")
            return redirect("webhooks")
    log = Delivery.objects.select_related("webhook", "notice")
    context = {
        "webhooks": Webhook.objects.select_related("deployment__artifact"),
        "page": Paginator(log, PER_PAGE).get_page(request.GET.get("page")),
        "form": form,
    }
    status = 422 if form.errors else 200
    return render(request, "notifications/webhooks.html", context, status=status)


@require_POST
def webhook_switch(request: HttpRequest, pk: int) -> HttpResponse:
    hook = get_object_or_404(Webhook, pk=pk)
    is_active = request.POST.get("active") == "yes"
    services.switch_webhook(actor=person_of(request), webhook=hook, is_active=is_active)
    return redirect("webhooks")


@require_POST
def delivery_again(request: HttpRequest, pk: int) -> HttpResponse:
    delivery = get_object_or_404(Delivery, pk=pk)
    services.deliver_again(actor=person_of(request), delivery=delivery)
    return redirect("webhooks")
