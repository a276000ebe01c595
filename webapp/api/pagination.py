"""Pages of lists. A cursor that no page of a list ever had is not found, instead of an error of the database."""

from django.utils.dateparse import parse_datetime
from rest_framework.exceptions import NotFound
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request

DIGITS_MAX = 18  # of an id: fewer than those of the largest number of its column


class Pages(CursorPagination):
    """Pages of a list that do not shift while rows are added."""

    def decode_cursor(self, request: Request) -> Cursor | None:
        """Return the cursor of a request, None without one. Raises NotFound."""
        cursor = super().decode_cursor(request)
        position = cursor.position if cursor else None
        if position is not None and not self.is_position(str(position)):
            raise NotFound(self.invalid_cursor_message)
        return cursor

    def is_position(self, text: str) -> bool:
        """Return whether a text can be a value of the column that the list is ordered by: here, an id."""
        return text.isascii() and text.isdigit() and len(text) <= DIGITS_MAX


class NewestFirst(Pages):
    """The row that was added last comes first."""

    ordering = "-id"


class OldestFirst(Pages):
    """The row that was added first comes first."""

    ordering = "id"


class ByName(Pages):
    """Rows by name."""

    ordering = "name"

    def is_position(self, text: str) -> bool:
        """Return whether a text can be a name."""
        return text.isprintable()


class NewestAdmittedFirst(Pages):
    """The objection that was admitted last comes first."""

    ordering = ("-admitted_at", "-id")

    def is_position(self, text: str) -> bool:
        """Return whether a text is a time."""
        try:
            return parse_datetime(text) is not None
        except ValueError:
            return False
