"""A one-time password opens one door only: to the page that replaces it."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse


class PasswordChangeMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        open_paths = (reverse("password_change"), reverse("logout"))
        if getattr(request.user, "must_change_password", False) and request.path not in open_paths:
            return redirect("password_change")
        return self.get_response(request)
