"""Registering deployments, and the pages about hosts and claims."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog import selectors, services
from catalog.claims import add_claim
from catalog.discovery import DiscoveryError, look_at
from catalog.forms import AddressForm, ClaimForm, ConfigurationForm, DeploymentForm, EndpointForm
from catalog.hosts import ensure_host
from catalog.models import Deployment
from people.access import Action, may, require
from people.models import User


def person(request: HttpRequest) -> User:
    """Who asks; log-in is required before any view."""
    assert isinstance(request.user, User)
    return request.user


@require_http_methods(["GET", "HEAD", "POST"])
def deployment_new(request: HttpRequest) -> HttpResponse:
    """Register a deployment by hand, or what Discover filled in."""
    require(person(request), Action.REGISTER_DEPLOYMENT)
    form = DeploymentForm(request.POST or None)
    endpoint = endpoint_form(request)
    wanted = endpoint if endpoint and endpoint.is_bound and endpoint.has_changed() else None
    if request.method == "POST" and form.is_valid() and (not wanted or wanted.is_valid()):
        try:
            deployment = services.register_deployment(
                actor=person(request),
                route=form.cleaned_data["route"],
                runtime_key=form.cleaned_data["runtime"],
                host=form.cleaned_data["host"] or ensure_host(form.cleaned_data["new_host"]),
                artifact=form.artifact(),
                configuration=form.configuration(),
                endpoint=wanted.endpoint() if wanted else None,
                note=form.cleaned_data["note"],
            )
        except ValidationError as error:
            refuse(form, error)
        else:
            messages.success(request, "Registered.")
            return redirect("deployment", deployment.slug)
    return registration_page(request, form=form, endpoint=endpoint)


def endpoint_form(request: HttpRequest, **initial: Any) -> EndpointForm | None:
    """The endpoint's fields, for whoever may add one. The browser lets them be left empty."""
    if not may(request.user, Action.EDIT_ENDPOINT):
        return None
    return EndpointForm(
        request.POST if "endpoint-layer" in request.POST else None,
        initial=initial,
        prefix="endpoint",
        use_required_attribute=False,
        empty_permitted=True,
    )


def registration_page(request: HttpRequest, *, status: int = 200, **context: Any) -> HttpResponse:
    """The page with everything on it; what is not given starts empty."""
    shown: dict[str, Any] = {
        "address_form": AddressForm(),
        "form": DeploymentForm(),
        "endpoint": endpoint_form(request),
        **context,
    }
    return render(request, "catalog/deployment_new.html", shown, status=status)


@require_POST
def discover(request: HttpRequest) -> HttpResponse:
    """Ask a running server what it is, and fill the form with what it says."""
    require(person(request), Action.DISCOVER)
    address_form = AddressForm(request.POST)
    if not address_form.is_valid():
        return registration_page(request, address_form=address_form, status=422)
    asked = address_form.cleaned_data
    try:
        found = look_at(asked["address"], api_key_env=asked["key_variable"])
    except DiscoveryError as error:
        address_form.add_error("address", str(error))
        return registration_page(request, address_form=address_form, status=422)
    return registration_page(
        request,
        address_form=address_form,
        form=DeploymentForm(initial=found.form_values()),
        endpoint=endpoint_form(request, **asdict(found.endpoint(asked["key_variable"]))),
        found=found,
    )


@require_http_methods(["GET", "HEAD", "POST"])
def revision_new(request: HttpRequest, slug: str) -> HttpResponse:
    """The next configuration of a deployment; evidence starts at zero for it."""
    deployment = get_object_or_404(Deployment, slug=slug)
    require(person(request), Action.REGISTER_DEPLOYMENT)
    active = deployment.revisions.filter(is_active=True).first()
    initial = services.configuration_of(active) if active else {}
    form = ConfigurationForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            revision = services.change_configuration(
                actor=person(request), deployment=deployment, changes=form.cleaned_data
            )
        except ValidationError as error:
            refuse(form, error)
        else:
            messages.success(request, f"Revision {revision.number} is active.")
            return redirect("deployment", deployment.slug)
    context = {"deployment": deployment, "form": form, "active": active}
    return render(request, "catalog/revision_new.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def endpoint_new(request: HttpRequest, slug: str) -> HttpResponse:
    """Say where a layer of the deployment answers."""
    deployment = get_object_or_404(Deployment, slug=slug)
    require(person(request), Action.EDIT_ENDPOINT)
    initial = {"served_model": deployment.canonical_route}
    form = EndpointForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        services.add_endpoint(
            actor=person(request), deployment=deployment, endpoint=form.endpoint()
        )
        messages.success(request, "The endpoint is registered.")
        return redirect("deployment", deployment.slug)
    replaced = deployment.endpoints.filter(is_active=True)
    context = {"deployment": deployment, "form": form, "replaced": replaced}
    return render(request, "catalog/endpoint_new.html", context)


def refuse(form: Form, error: ValidationError) -> None:
    """Put a service's refusal on the form; fields it does not have are told above it."""
    if not hasattr(error, "error_dict"):
        form.add_error(None, error)
        return
    for name, errors in error.error_dict.items():
        form.add_error(name if name in form.fields else None, errors)


@require_safe
def host_list(request: HttpRequest) -> HttpResponse:
    """What is on each machine, and which programs serve."""
    context = {"hosts": selectors.hosts(), "runtimes": selectors.runtimes()}
    return render(request, "catalog/hosts.html", context)


@require_safe
def claim_list(request: HttpRequest) -> HttpResponse:
    """Somebody else's figures, and names that are no deployment."""
    context = {"claims": selectors.claims(), "names": selectors.inventory_names()}
    return render(request, "catalog/claims.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def claim_new(request: HttpRequest) -> HttpResponse:
    """Note what somebody published, with its source."""
    require(person(request), Action.ADD_CLAIM)
    form = ClaimForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            add_claim(actor=person(request), **form.cleaned_data)
        except ValidationError as error:
            refuse(form, error)
        else:
            messages.success(request, "The claim is noted. It counts nowhere.")
            return redirect("claims")
    return render(request, "catalog/claim_new.html", {"form": form})
