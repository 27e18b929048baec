from django.apps import AppConfig


class LedgerConfig(AppConfig):
    name = "verdicts.ledger"
    label = "ledger"
