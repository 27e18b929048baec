"""Addresses below /campaigns/."""

from __future__ import annotations

from django.urls import path

from runs.campaigns import views

urlpatterns = [
    path("", views.campaign_list, name="campaign-list"),
    path("wall/", views.campaign_wall, name="campaign-wall"),
    path("new/", views.campaign_start, name="campaign-start"),
    path("<int:pk>/", views.campaign_detail, name="campaign-detail"),
    path("<int:pk>/live/", views.campaign_live, name="campaign-live"),
    path("<int:pk>/charts/<slug:key>.csv", views.campaign_csv, name="campaign-csv"),
    path("<int:pk>/pause/", views.campaign_pause, name="campaign-pause"),
    path("<int:pk>/resume/", views.campaign_resume, name="campaign-resume"),
    path("<int:pk>/extend/", views.campaign_extend, name="campaign-extend"),
    path("<int:pk>/end/", views.campaign_end, name="campaign-end"),
]
