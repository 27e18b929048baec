"""Signing in and changing one's password."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.views import LoginView, PasswordChangeView
from django.http import HttpResponse
from django.urls import reverse_lazy

from people.forms import SignInForm


class SignIn(LoginView):
    template_name = "people/login.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True


class PasswordChange(PasswordChangeView):
    template_name = "people/password_change.html"
    success_url = reverse_lazy("inventory")

    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        form.user.must_change_password = False  # stored together with the new password
        messages.success(self.request, "Your password is changed.")
        return super().form_valid(form)
