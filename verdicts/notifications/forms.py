"""What people choose to be told, and where admins have it sent."""

from __future__ import annotations

from django import forms

from catalog.models import Deployment
from verdicts.notifications.models import Kind


def deployments() -> forms.ModelChoiceField[Deployment]:
    return forms.ModelChoiceField(
        Deployment.objects.filter(is_archived=False).select_related("artifact"),
        required=False,
        to_field_name="slug",
        empty_label="All deployments",
    )


def kinds(*, required: bool) -> forms.MultipleChoiceField:
    return forms.MultipleChoiceField(
        choices=Kind.choices, required=required, widget=forms.CheckboxSelectMultiple
    )


class SubscriptionForm(forms.Form):
    """The kinds that one person wants of one deployment, or of all."""

    deployment = deployments()
    kinds = kinds(required=False)


class WebhookForm(forms.Form):
    name = forms.CharField(max_length=80)
    url = forms.CharField(label="Address", max_length=300, help_text="asked with POST, as it is")
    secret_env = forms.CharField(
        label="Secret variable",
        max_length=80,
        help_text="NAME of the environment variable with the signing secret",
    )
    deployment = deployments()
    kinds = kinds(required=True)
