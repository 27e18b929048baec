from django.apps import AppConfig


class CampaignsConfig(AppConfig):
    name = "runs.campaigns"
    label = "campaigns"
