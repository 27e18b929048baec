from __future__ import annotations

from people.tests.cast import abel, ada, olive, vera

__all__ = ["abel", "ada", "olive", "vera"]
