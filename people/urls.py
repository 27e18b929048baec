from __future__ import annotations

from django.contrib.auth import views as auth
from django.urls import path

from people.views import PasswordChange

urlpatterns = [
    path("login/", auth.LoginView.as_view(template_name="people/login.html"), name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("password/", PasswordChange.as_view(), name="password_change"),
]
