from __future__ import annotations

from django.contrib.auth import views as auth
from django.urls import path

from people import token_views
from people.views import PasswordChange, SignIn

urlpatterns = [
    path("login/", SignIn.as_view(), name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("password/", PasswordChange.as_view(), name="password_change"),
    path("tokens/", token_views.tokens, name="tokens"),
    path("tokens/<int:pk>/revoke/", token_views.token_revoke, name="token-revoke"),
]
