from __future__ import annotations

from people.tests.cast import abel, ada, olive, quick_hashing, vera

__all__ = ["abel", "ada", "olive", "quick_hashing", "vera"]
