"""Cursor pages: stable while rows are added, and no page number to guess."""

from __future__ import annotations

from typing import Any

from rest_framework.exceptions import NotFound
from rest_framework.pagination import Cursor, CursorPagination


class Pages(CursorPagination):
    """Newest first, 50 a page; `?page_size=` up to 200."""

    page_size = 50
    max_page_size = 200
    page_size_query_param = "page_size"
    ordering = "-pk"

    def decode_cursor(self, request: Any) -> Cursor | None:
        """Cursors hold a row's number: anything else was not made here."""
        cursor = super().decode_cursor(request)
        if cursor and cursor.position and not str(cursor.position)[:19].isdecimal():
            raise NotFound(self.invalid_cursor_message)
        return cursor
