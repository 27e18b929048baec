from django.apps import AppConfig


class PoliciesConfig(AppConfig):
    name = "verdicts.policies"
    label = "policies"
