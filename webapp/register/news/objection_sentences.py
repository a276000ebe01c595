"""Words for objections in the news: their admission, the reply of the submitter, and the outcome."""

from collections.abc import Mapping
from typing import Any

from results.history import OBJECTION_REPLIED
from results.lifecycle.objections import ADMITTED_KIND, REJECTED_KIND, UPHELD_KIND
from results.models import Objection, ObjectionState

NEWS_KINDS = (ADMITTED_KIND, OBJECTION_REPLIED, UPHELD_KIND, REJECTED_KIND)
LABELS = {
    ADMITTED_KIND: "Objection",
    OBJECTION_REPLIED: "Reply to an objection",
    UPHELD_KIND: "Objection upheld",
    REJECTED_KIND: "Objection rejected",
}
VERBS = {UPHELD_KIND: "upheld", REJECTED_KIND: "rejected"}


def objection_sentence(kind: str, details: Mapping[str, Any], run: str) -> str:
    """Return the sentence of an event about an objection to a run."""
    objection = f"objection {details['objection']} to run {run}"
    if kind == ADMITTED_KIND:
        if details.get("state") == ObjectionState.IN_DECISION:
            next_step = "No organisation of the register submitted the result. A reviewer decides next."
        else:
            next_step = "The organisation that submitted the result can reply."
        return f"A reviewer admitted {objection}. {next_step}"
    if kind == OBJECTION_REPLIED:
        return f"The organisation that submitted run {run} replied to objection {details['objection']}."
    outcome = details.get("outcome")
    words = f": {Objection.Outcome(outcome).label}" if outcome else ""
    return f"A reviewer {VERBS[kind]} {objection}{words}."
