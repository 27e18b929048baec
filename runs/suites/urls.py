"""Addresses below /suites/."""

from __future__ import annotations

from django.urls import path

from runs.suites import views

urlpatterns = [
    path("", views.suite_list, name="suite-list"),
    path("new/", views.suite_edit, name="suite-new"),
    path("<slug:key>/", views.suite_detail, name="suite"),
    path("<slug:key>/edit/", views.suite_edit, name="suite-edit"),
    path("<slug:key>/versions/<int:version>/restore/", views.suite_restore, name="suite-restore"),
]
