from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    name = "verdicts.notifications"
    label = "notifications"

    def ready(self) -> None:
        from runs import signals
        from verdicts.notifications import receivers

        signals.run_finished.connect(receivers.on_run_finished)
        signals.happened.connect(receivers.on_happened)
