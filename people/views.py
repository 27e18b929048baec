"""Signing in and changing one's password."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.views import PasswordChangeView
from django.forms import BaseForm
from django.http import HttpResponse
from django.urls import reverse_lazy

from people.models import User


class PasswordChange(PasswordChangeView):
    template_name = "people/password_change.html"
    success_url = reverse_lazy("inventory")

    def form_valid(self, form: BaseForm) -> HttpResponse:
        response = super().form_valid(form)  # type: ignore[arg-type]
        User.objects.filter(pk=self.request.user.pk).update(must_change_password=False)
        messages.success(self.request, "Your password is changed.")
        return response
