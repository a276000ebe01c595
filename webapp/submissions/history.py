"""The whole history of a submission and its runs, for whom it belongs to and for staff: the public one tells less."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from results.access.history import EMBARGO_CHANGED
from results.models import Event
from webapp.register.runs.lifecycle import HistoryLine, line_of
from webapp.templatetags import units

NO_EMBARGO = "none"


@dataclass(frozen=True)
class Entry:
    """One event; `run_id` is empty where it is the submission's."""

    line: HistoryLine
    run_id: str


def entries_of(events: Iterable[Event]) -> list[Entry]:
    """Return events, fetched with their actors, as their owners read them, with the moments of every embargo."""
    return [Entry(_line(event), event.subject_id if event.subject_type == "run" else "") for event in events]


def _line(event: Event) -> HistoryLine:
    line = line_of(event)
    if event.actor is not None and not getattr(event.actor, "is_staff", False):
        line = replace(line, by="its organisation")
    if event.kind != EMBARGO_CHANGED:
        return line
    before, after = (_moment(event.details[name]) for name in ("before", "after"))
    return replace(line, details=f"{before} -> {after}")


def _moment(told: str) -> str:
    return units.moment(datetime.fromisoformat(told)) if told else NO_EMBARGO
