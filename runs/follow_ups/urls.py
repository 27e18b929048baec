"""Addresses below /follow-ups/."""

from __future__ import annotations

from django.urls import path

from runs.follow_ups import views

urlpatterns = [
    path("", views.follow_up_list, name="follow-ups"),
    path("new/", views.follow_up_new, name="follow-up-new"),
    path("<int:pk>/", views.follow_up_detail, name="follow-up"),
    path("<int:pk>/comment/", views.follow_up_comment, name="follow-up-comment"),
    path("<int:pk>/plan/", views.follow_up_plan, name="follow-up-plan"),
    path("<int:pk>/close/", views.follow_up_close, name="follow-up-close"),
    path("<int:pk>/reopen/", views.follow_up_reopen, name="follow-up-reopen"),
]
