"""Writes, each with its permission, its transaction, its ledger entry and its notice."""

from verdicts.promotions.services.decisions import decide
from verdicts.promotions.services.requests import answer, expire_due, request_promotion, withdraw
from verdicts.promotions.services.rollback import roll_back
from verdicts.promotions.services.standing import change_verdict

__all__ = [
    "answer",
    "change_verdict",
    "decide",
    "expire_due",
    "request_promotion",
    "roll_back",
    "withdraw",
]
