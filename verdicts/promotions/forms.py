"""What people type about promotions and verdicts."""

from __future__ import annotations

from typing import Any

from django import forms

from runs.engine.failure_classes import FAILURE_CLASSES

UNBLOCKERS = ("artifact found", "format fixed", "runtime fixed", "memory freed", "licence cleared")


def why(label: str, help_text: str = "", *, required: bool = True) -> forms.CharField:
    return forms.CharField(
        label=label,
        max_length=2000,
        required=required,
        help_text=help_text,
        widget=forms.Textarea({"rows": 3}),
    )


class RequestForm(forms.Form):
    """Why, and under which name clients will reach it."""

    reason = why("Reason", "what it is better at than the present primary; kept for good")
    planned_route = forms.CharField(
        label="Planned route", max_length=200, help_text="the name that clients will send"
    )


class DecisionForm(forms.Form):
    """A comment, and what was on the page when it was sent: an approval is for exactly that."""

    comment = why("Comment", "needed to reject or to ask for more", required=False)
    digest = forms.CharField(max_length=64, widget=forms.HiddenInput)
    slot_version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)


class SayForm(forms.Form):
    """One free sentence: an answer, or why something is taken back."""

    comment = why("Comment")


class ChangeForm(forms.Form):
    """Why a verdict is given; for a block, what would end it."""

    reason = why("Reason", "what was seen; kept for good")


class AgainstForm(ChangeForm):
    """A rejection may name the failure class that it is about."""

    failure_class = forms.ChoiceField(label="Failure class", required=False)

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        known = [(key, found.title) for key, found in FAILURE_CLASSES.items()]
        choices = [("", "none of these"), *sorted(known, key=lambda pair: pair[1])]
        self.fields["failure_class"] = forms.ChoiceField(
            label="Failure class", choices=choices, required=False
        )


class BlockForm(AgainstForm):
    unblocks_when = forms.CharField(
        label="What would end the block",
        max_length=200,
        help_text=f"such as: {', '.join(UNBLOCKERS)}",
    )
