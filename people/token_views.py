"""One's own tokens: list, make, revoke."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from people.forms import TokenForm
from people.models import User
from people.tokens import make_token, revoke_token


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def tokens(request: HttpRequest) -> HttpResponse:
    """Which programs act for me, and what may they do?"""
    assert isinstance(request.user, User)
    form = TokenForm(request.POST or None)
    text = ""
    if request.method == "POST" and form.is_valid():
        try:
            text = make_token(actor=request.user, **form.cleaned_data)[1]
        except ValidationError as refused:
            form.add_error(None, refused)
        else:
            form = TokenForm()
    context = {"form": form, "text": text, "tokens": request.user.tokens.all()}
    return render(request, "people/tokens.html", context, status=422 if form.errors else 200)


@require_POST
def token_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    assert isinstance(request.user, User)
    try:
        revoke_token(actor=request.user, token_id=pk)
    except ValidationError as refused:
        messages.error(request, " ".join(refused.messages))
    else:
        messages.success(request, "The token is revoked: it opens nothing any more.")
    return redirect("tokens")
