"""The number of approvals is as shipped before each test."""

from __future__ import annotations

import pytest

from verdicts.promotions.standins import APPROVALS


@pytest.fixture(autouse=True)
def one_approval() -> None:
    APPROVALS["needed"] = 1
