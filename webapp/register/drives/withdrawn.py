"""How a withdrawn run's row is marked in the tables of drives: struck through (css/withdrawn.css), with the word.

static/js/drives/withdrawn.js makes the same; of tables made by templates, register/table.html.
"""

from results.models import Visibility


def struck_class(visibility: str) -> str:
    """Return what a row's tag carries for its lines to be struck through; nothing of one that is not withdrawn."""
    return ' class="withdrawn"' if visibility == Visibility.WITHDRAWN else ""


def withdrawn_mark(visibility: str) -> str:
    """Return the word beside the name of a withdrawn run's drive: not everyone sees a line through digits."""
    return ' <span class="fail">withdrawn</span>' if visibility == Visibility.WITHDRAWN else ""
