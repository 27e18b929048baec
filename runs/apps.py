from django.apps import AppConfig


class RunsConfig(AppConfig):
    name = "runs"

    def ready(self) -> None:
        from runs import signals
        from runs.follow_ups import receivers

        signals.run_finished.connect(receivers.on_run_finished)
        signals.happened.connect(receivers.on_happened)
