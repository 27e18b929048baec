from django.apps import AppConfig


class CompareConfig(AppConfig):
    name = "runs.compare"
    label = "compare"
