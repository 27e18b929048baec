from django.apps import AppConfig


class PromotionsConfig(AppConfig):
    name = "verdicts.promotions"
    label = "promotions"
