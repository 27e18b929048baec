"""Uploading a file of records."""

from __future__ import annotations

from django import forms

from catalog.models import Deployment
from runs.traffic.services import LAYERS, LONGEST_SOURCE


class UploadForm(forms.Form):
    deployment = forms.ModelChoiceField(
        Deployment.objects.filter(is_archived=False).select_related("artifact"),
        to_field_name="slug",
    )
    layer = forms.ChoiceField(
        choices=[(layer.value, layer.label) for layer in LAYERS],
        initial="proxy",
        help_text="where the requests were seen",
    )
    source = forms.CharField(
        max_length=LONGEST_SOURCE,
        help_text="which proxy says so; its ids are told apart from those of others",
        widget=forms.TextInput(attrs={"class": "form-control"}),
    )
    file = forms.FileField(
        help_text="NDJSON: one record a line. Sending a file again does no harm.",
        widget=forms.ClearableFileInput(attrs={"class": "form-control"}),
    )
