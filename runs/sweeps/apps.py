from django.apps import AppConfig


class SweepsConfig(AppConfig):
    name = "runs.sweeps"
    label = "sweeps"
