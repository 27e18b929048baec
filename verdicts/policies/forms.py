"""Editing a policy in the browser: one small form for each gate, and what holds for all."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.text import slugify

from catalog.models import Layer
from runs.campaigns.models import Kind
from runs.engine.checks import CHECKS
from runs.engine.checks.params import MOST_TOKENS
from verdicts.policies.gates import SLOTS, Gate, GateKind

CHECK_CHOICES = [("", "none"), *((key, check.title) for key, check in CHECKS.items())]
KIND_CHOICES = [
    (GateKind.CHECK, "A check passed"),
    (GateKind.IDENTITY, "Identity verified"),
    (GateKind.MEMORY, "Memory observed and within its guards"),
    (GateKind.CAMPAIGN, "A campaign passed"),
    (GateKind.TRAFFIC, "Reported requests completed"),
]


class GateForm(forms.Form):
    """One gate. Its key stays; a new one is named by its title."""

    key = forms.SlugField(max_length=40, required=False, widget=forms.HiddenInput)
    title = forms.CharField(max_length=80)
    kind = forms.ChoiceField(choices=KIND_CHOICES, label="Asks for", initial=GateKind.CHECK)
    check = forms.ChoiceField(choices=CHECK_CHOICES, required=False)
    campaign = forms.ChoiceField(choices=[("", "none"), *Kind.choices], required=False)
    layer = forms.ChoiceField(choices=Layer.choices, initial=Layer.DIRECT)
    tokens = forms.IntegerField(
        min_value=1, max_value=MOST_TOKENS, required=False, help_text="at least, in the prompt"
    )
    clients = forms.CharField(
        max_length=5, required=False, help_text=f"at one moment; a number or “{SLOTS}”"
    )
    min_count = forms.IntegerField(
        min_value=1, max_value=10_000_000, initial=1, label="At least",
        help_text="clean runs in a row, or reported requests",
    )  # fmt: skip
    freshness_days = forms.IntegerField(
        min_value=1, max_value=365, initial=30, label="Not older than", help_text="days"
    )
    ttft_max_ms = forms.FloatField(
        min_value=1, max_value=1e7, required=False, label="TTFT at most", help_text="ms, client"
    )
    decode_min_tps = forms.FloatField(
        min_value=0.1, max_value=1e5, required=False, label="Decode at least",
        help_text="tok/s, client",
    )  # fmt: skip
    may_waive = forms.BooleanField(required=False, label="May be waived, with a reason")
    counts = forms.BooleanField(
        required=False, initial=True, label="Counts; otherwise it is only shown"
    )

    def clean_clients(self) -> int | str | None:
        typed = str(self.cleaned_data["clients"]).strip()
        if not typed:
            return None
        if typed == SLOTS:
            return SLOTS
        if typed.isascii() and typed.isdigit() and 1 <= int(typed) <= 1024:
            return int(typed)
        raise forms.ValidationError(f"A number from 1 to 1,024, or {SLOTS}.")

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        kind = given.get("kind")
        if kind in (GateKind.CHECK, GateKind.MEMORY) and not given.get("check"):
            self.add_error("check", "Say which check.")
        if kind == GateKind.CAMPAIGN and not given.get("campaign"):
            self.add_error("campaign", "Say which campaign.")
        return given

    def gate(self) -> Gate:
        given = self.cleaned_data
        asked = {name: given[name] for name in ("tokens", "clients") if given.get(name)}
        return Gate(
            key=given["key"] or slugify(given["title"])[:40] or "gate",
            title=given["title"],
            kind=given["kind"],
            layer=given["layer"],
            check=given["check"],
            campaign=given["campaign"],
            params=asked,
            min_count=given["min_count"],
            freshness_days=given["freshness_days"],
            ttft_max_ms=given["ttft_max_ms"],
            decode_min_tps=given["decode_min_tps"],
            may_waive=given["may_waive"],
            counts=given["counts"],
        )


def typed(gate: Gate) -> dict[str, Any]:
    """The form's first values."""
    stored = gate.as_dict()
    return {**stored, **stored.pop("params")}


GateFormSet = forms.formset_factory(GateForm, extra=1, can_delete=True, max_num=60)


class PolicyForm(forms.Form):
    """What holds for the whole policy."""

    approvals_needed = forms.IntegerField(min_value=1, max_value=5, label="Approvals needed")
    days_to_decide = forms.IntegerField(min_value=1, max_value=60, label="Days to decide")
    note = forms.CharField(max_length=300, label="Why it changes")
    based_on = forms.IntegerField(min_value=0, widget=forms.HiddenInput)


class WaiverForm(forms.Form):
    """Letting one gate be."""

    gate_key = forms.SlugField(max_length=40, widget=forms.HiddenInput)
    reason = forms.CharField(max_length=2000, label="Reason")
    days = forms.IntegerField(min_value=1, max_value=90, initial=14, label="For how many days")
