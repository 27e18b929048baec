from __future__ import annotations

from django.contrib.auth import views as auth
from django.urls import path

from people.views import PasswordChange, SignIn

urlpatterns = [
    path("login/", SignIn.as_view(), name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("password/", PasswordChange.as_view(), name="password_change"),
]
