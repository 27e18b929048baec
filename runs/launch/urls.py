"""Addresses of launch profiles and launches."""

from __future__ import annotations

from django.urls import path

from runs.launch import views

urlpatterns = [
    path("launch-profiles/", views.profile_list, name="launch-profiles"),
    path("launch-profiles/new/", views.profile_edit, name="launch-profile-new"),
    path("launch-profiles/<slug:key>/", views.profile_detail, name="launch-profile"),
    path("launch-profiles/<slug:key>/edit/", views.profile_edit, name="launch-profile-edit"),
    path("launches/<int:pk>/", views.launch_detail, name="launch"),
]
