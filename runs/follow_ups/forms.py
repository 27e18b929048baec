"""Forms of follow-ups."""

from __future__ import annotations

from django import forms

from catalog.models import Deployment
from people.models import User
from runs.engine.failure_classes import FAILURE_CLASSES
from runs.models import Run

CONTROL = {"class": "form-control"}


def classes() -> list[tuple[str, str]]:
    named = [(key, row.title) for key, row in FAILURE_CLASSES.items()]
    return [("", "None"), *sorted(named, key=lambda choice: choice[1])]


def date_field() -> forms.DateField:
    widget = forms.DateInput(format="%Y-%m-%d", attrs={**CONTROL, "type": "date"})
    return forms.DateField(label="Due", required=False, widget=widget)


def person_field() -> forms.ModelChoiceField[User]:
    return forms.ModelChoiceField(
        User.objects.filter(is_active=True).order_by("username"),
        label="Assigned to",
        required=False,
        empty_label="Nobody yet",
    )


class NewForm(forms.Form):
    """Its run, where there is one, stays beside it as the page that led to it."""

    text = forms.CharField(
        label="What is to be done",
        max_length=4000,
        widget=forms.Textarea(attrs={**CONTROL, "rows": 4}),
    )
    deployments = forms.ModelMultipleChoiceField(
        Deployment.objects.filter(is_archived=False).select_related("artifact"),
        to_field_name="slug",
        required=False,
        help_text="None: it is about every deployment.",
        widget=forms.SelectMultiple(attrs={"size": 6}),
    )
    failure_class = forms.ChoiceField(
        choices=classes,
        required=False,
        help_text="Once done, a later run there that meets this class opens it again.",
    )
    assignee = person_field()
    due_on = date_field()
    run = forms.ModelChoiceField(Run.objects.all(), required=False, widget=forms.HiddenInput)


class CommentForm(forms.Form):
    text = forms.CharField(
        label="Comment", max_length=4000, widget=forms.Textarea(attrs={**CONTROL, "rows": 3})
    )


class PlanForm(forms.Form):
    assignee = person_field()
    due_on = date_field()


class CloseForm(forms.Form):
    run = forms.IntegerField(
        label="Run that proves it",
        required=False,
        min_value=1,
        max_value=2**62,
        help_text="its number; a clean pass since this was opened",
        widget=forms.NumberInput(attrs=CONTROL),
    )
    reason = forms.CharField(
        required=False,
        max_length=4000,
        help_text="needed where no run proves it",
        widget=forms.Textarea(attrs={**CONTROL, "rows": 2}),
    )


class ReopenForm(forms.Form):
    reason = forms.CharField(
        label="Why it is not done",
        max_length=4000,
        widget=forms.Textarea(attrs={**CONTROL, "rows": 2}),
    )
