"""Policies: what each role asks for, their editor, and how a deployment stands."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog.models import Deployment
from people.access import Action, require
from runs.views import person_of
from verdicts.policies import reading, services
from verdicts.policies.forms import GateFormSet, PolicyForm, WaiverForm, typed
from verdicts.policies.models import PolicyVersion, Role, Waiver
from verdicts.policies.roles import likely_role, roles_for
from verdicts.policies.selectors import evaluate_revision, policy_at
from verdicts.policies.services import PolicyRefused


@require_safe
def policy_list(request: HttpRequest) -> HttpResponse:
    """What does each role ask for?"""
    now = timezone.now()
    return render(
        request, "policies/list.html", {"policies": [policy_at(role, now) for role in Role]}
    )


@require_safe
def policy_page(request: HttpRequest, role: str) -> HttpResponse:
    """Which gates, with which thresholds, and who changed them why?"""
    chosen = role_named(role)
    policy = policy_at(chosen, timezone.now())
    versions = list(PolicyVersion.objects.filter(role=chosen).order_by("-number"))
    context = {
        "policy": policy,
        "gates": [(gate, reading.asks(gate)) for gate in policy.gate_list],
        "history": reading.history(versions),
    }
    return render(request, "policies/detail.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def policy_edit(request: HttpRequest, role: str) -> HttpResponse:
    """What would I change, and what would that do?"""
    require(request.user, Action.EDIT_POLICY)
    chosen = role_named(role)
    policy = policy_at(chosen, timezone.now())
    if request.method != "POST":
        return edit_page(request, policy, *first_forms(policy))
    form, gates = PolicyForm(request.POST), GateFormSet(request.POST, prefix="gate")
    if not (form.is_valid() and gates.is_valid()):
        return edit_page(request, policy, form, gates, status=400)
    draft = draft_of(policy, form, gates)
    if request.POST.get("do") == "preview":
        effects = reading.preview(policy, draft, fitting(chosen), timezone.now())
        lines = reading.changes(policy, draft)
        return edit_page(request, policy, form, gates, effects=effects, changes=lines)
    try:
        made = services.save_policy(
            actor=person_of(request),
            role=chosen,
            gates=draft.gate_list,
            note=form.cleaned_data["note"],
            approvals_needed=draft.approvals_needed,
            days_to_decide=draft.days_to_decide,
            based_on=form.cleaned_data["based_on"],
        )
    except PolicyRefused as refused:
        return edit_page(request, policy, form, gates, status=409, refusal=str(refused))
    messages.success(request, f"Version {made.number} is in force.")
    return redirect("policy", role=role)


def first_forms(policy: PolicyVersion) -> tuple[PolicyForm, Any]:
    form = PolicyForm(
        initial={
            "approvals_needed": policy.approvals_needed,
            "days_to_decide": policy.days_to_decide,
            "based_on": policy.number,
        }
    )
    initial = [typed(gate) for gate in policy.gate_list]
    return form, GateFormSet(initial=initial, prefix="gate")


def edit_page(
    request: HttpRequest,
    policy: PolicyVersion,
    form: PolicyForm,
    gates: Any,
    *,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    context = {"policy": policy, "form": form, "gates": gates, **more}
    return render(request, "policies/edit.html", context, status=status)


def draft_of(policy: PolicyVersion, form: PolicyForm, gates: Any) -> PolicyVersion:
    """Not stored."""
    kept = [
        one.gate().as_dict()
        for one in gates
        if one.cleaned_data.get("title") and not one.cleaned_data.get("DELETE")
    ]
    return PolicyVersion(
        role=policy.role,
        number=policy.number + 1,
        gates=kept,
        approvals_needed=form.cleaned_data["approvals_needed"],
        days_to_decide=form.cleaned_data["days_to_decide"],
    )


def fitting(role: Role) -> list[Deployment]:
    """Deployments whose kind of model can have the role."""
    task = {Role.EMBEDDING_POOLING: "embedding", Role.RERANK_POOLING: "rerank"}.get(role)
    return list(Deployment.objects.filter(is_archived=False, artifact__task=task or "generation"))


@require_safe
def deployment_gates(request: HttpRequest, slug: str) -> HttpResponse:
    """Which gates are met, on which evidence, and how is the rest begun?"""
    deployment = get_object_or_404(Deployment.objects.select_related("artifact"), slug=slug)
    role, roles = role_asked(request, deployment)
    revision = deployment.revisions.filter(is_active=True).first()
    context: dict[str, Any] = {
        "deployment": deployment,
        "role": role,
        "roles": roles,
        "revision": revision,
    }
    if revision is not None:
        now = timezone.now()
        found = evaluate_revision(deployment=deployment, revision=revision, role=role, at=now)
        context |= {
            "policy": found.policy_version,
            "digest": found.digest,
            "lines": reading.lines_of(found.policy_version.gate_list, found.gates, deployment),
            "met": sum(gate.state in reading.MET for gate in found.gates if gate.counts),
            "counting": sum(gate.counts for gate in found.gates),
            "waivers": Waiver.objects.filter(revision=revision, role=role),
            "now": now,
        }
    return render(request, "policies/deployment.html", context)


def role_asked(request: HttpRequest, deployment: Deployment) -> tuple[Role, list[Role]]:
    roles = list(roles_for(deployment.artifact))
    asked = request.GET.get("role", "")
    chosen = Role(asked) if asked in {role.value for role in roles} else likely_role(deployment)
    return chosen, roles


@require_POST
def gate_waive(request: HttpRequest, slug: str, role: str) -> HttpResponse:
    """Let one gate be until a day."""
    require(request.user, Action.WAIVE)
    deployment = get_object_or_404(Deployment, slug=slug)
    revision = deployment.revisions.filter(is_active=True).first()
    form = WaiverForm(request.POST)
    if revision is None or not form.is_valid():
        messages.error(request, "A waiver needs a gate, a reason and a number of days.")
    else:
        given = form.cleaned_data
        try:
            services.waive(
                actor=person_of(request),
                revision=revision,
                role=role_named(role),
                gate_key=given["gate_key"],
                reason=given["reason"],
                expires_at=timezone.now() + timedelta(days=given["days"]),
            )
            messages.success(request, "Waived. It stays visible on the verdict for good.")
        except PolicyRefused as refused:
            messages.error(request, str(refused))
    return redirect(f"{reverse('deployment-gates', args=[slug])}?role={role}")


@require_POST
def waiver_withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    """End a waiver now."""
    require(request.user, Action.WAIVE)
    waiver = get_object_or_404(Waiver.objects.select_related("revision__deployment"), pk=pk)
    try:
        services.withdraw_waiver(actor=person_of(request), waiver=waiver)
        messages.success(request, "Withdrawn: the gate counts again.")
    except PolicyRefused as refused:
        messages.error(request, str(refused))
    slug = waiver.revision.deployment.slug
    return redirect(f"{reverse('deployment-gates', args=[slug])}?role={waiver.role}")


def role_named(text: str) -> Role:
    if text not in Role.values:
        raise Http404(f"There is no role {text}.")
    return Role(text)
