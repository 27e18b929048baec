from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    name = "verdicts.notifications"
    label = "notifications"
