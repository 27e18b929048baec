from django.apps import AppConfig


class TrafficConfig(AppConfig):
    name = "runs.traffic"
    label = "traffic"
