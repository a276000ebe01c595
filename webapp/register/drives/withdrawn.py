"""The mark of a withdrawn run's row: struck through (css/withdrawn.css), with the word "withdrawn".

static/js/drives/rows.js makes the same mark; register/tables/table.html does so for tables made by templates.
"""

from results.models import Visibility


def struck_class(visibility: str) -> str:
    """Return the class attribute that strikes a withdrawn row through."""
    return ' class="withdrawn"' if visibility == Visibility.WITHDRAWN else ""


def withdrawn_mark(visibility: str) -> str:
    """Return the word next to the name of a withdrawn run's drive, for readers who cannot see a struck-through line."""
    return ' <span class="fail">withdrawn</span>' if visibility == Visibility.WITHDRAWN else ""
