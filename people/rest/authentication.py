"""Who asks: a program by its token, or the browser's session (with CSRF checked)."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from people.access import Action, require
from people.models import User
from people.tokens import person_of_token

KEYWORD = "Bearer"


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer cpt_…`."""

    def authenticate(self, request: Request) -> tuple[User, None] | None:
        """None without such a header; raises AuthenticationFailed when it opens nothing."""
        keyword, _, text = get_authorization_header(request).partition(b" ")
        if keyword.lower() != KEYWORD.lower().encode():
            return None
        person = person_of_token(text.decode("latin-1").strip())
        if person is None:
            raise AuthenticationFailed(
                "This token is unknown, expired or revoked. Make another on the API tokens page."
            )
        return person, None

    def authenticate_header(self, request: Request) -> str:
        return KEYWORD


class SignedIn(BasePermission):
    """Everybody signed in may read; what else they may is decided by the services."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not isinstance(request.user, User):
            return False
        require(request.user, Action.VIEW)
        return True


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A token of the tokens page."}
