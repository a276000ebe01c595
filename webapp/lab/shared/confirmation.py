"""Confirmation pages, shown before a run or campaign is cancelled and before a drive is overwritten again.

A confirmation page does not refresh itself, so that its button does not move under the pointer.
"""

from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse

from runners.models import Dispatch
from runners.models.campaign import Campaign
from runners.models.states import State
from webapp.accounts.requests import UserRequest


@dataclass(frozen=True)
class Question:
    """One confirmation: its texts, the address that the form posts to and the address of the page before."""

    subject: str
    heading: str
    consequence: str
    button: str
    action_url: str
    back_url: str
    back_label: str = "Do not cancel"
    has_reason_field: bool = True


def confirmation_page(request: UserRequest, question: Question, **context: Any) -> HttpResponse:
    """Render a confirmation; `context` may add warnings and the device whose label has to be typed."""
    return render(request, "lab/shared/confirm.html", {"question": question, "section": "lab"} | context)


# The effect of a cancellation by the state of the dispatch. States that are missing here cannot be cancelled.
CANCEL_EFFECTS = {
    State.QUEUED: "No program was started. The run is taken out of the queue.",
    State.CLAIMED: "No program was started yet. If one starts in the meantime, the host stops it.",
    State.PREPARING: "The program is being started. The host stops it; its measurements are discarded.",
    State.RUNNING: "The host stops the program. The run cannot be continued; its measurements are discarded.",
    State.COLLECTING: "The program has ended. Its log is still stored. If that fails, the run is cancelled and the log "
    "stays on the host.",
    State.LOST: "The run stays lost. If its program still runs, the host stops it. The drive is free once the host "
    "confirms that no program runs.",
}
NOTHING_TO_CANCEL = "The run has already ended. There is nothing to cancel."


def cancel_question(dispatch: Dispatch) -> Question:
    """Return the confirmation of a cancelled run."""
    consequence = f"{_state_of(dispatch)}. {_cancel_effect(dispatch)}"
    return _question(dispatch, "dispatch", "cancel", "Cancel this run?", consequence)


def _cancel_effect(dispatch: Dispatch) -> str:
    is_freed = dispatch.state == State.LOST and dispatch.ended_at is not None
    return NOTHING_TO_CANCEL if is_freed else CANCEL_EFFECTS.get(State(dispatch.state), NOTHING_TO_CANCEL)


def retry_question(dispatch: Dispatch) -> Question:
    """Return the confirmation of a repeated order."""
    consequence = f"{_state_of(dispatch)}. The new run has the same settings and overwrites {dispatch.device.path}."
    question = _question(dispatch, "dispatch", "retry", "Order this run again?", consequence)
    return replace(question, button="Order again", back_label="Go back", has_reason_field=False)


def campaign_cancel_question(campaign: Campaign) -> Question:
    """Return the confirmation of a cancelled campaign."""
    consequence = (
        f"{_state_of(campaign)}. A current run is stopped and its measurements are discarded. The campaign cannot be "
        "resumed. Completed runs stay."
    )
    return _question(campaign, "campaign", "cancel", "Cancel the campaign?", consequence)


def _question(subject: Dispatch | Campaign, kind: str, action: str, heading: str, consequence: str) -> Question:
    """Return a question whose button repeats its heading; `kind` and `action` name the addresses."""
    action_url, back_url = (reverse(f"{kind}-{name}", args=[subject.public_id]) for name in (action, "detail"))
    button = heading.removesuffix("?")
    return Question(subject.public_id, heading, consequence, button, action_url, back_url)


def _state_of(subject: Dispatch | Campaign) -> str:
    device = subject.device
    return f"{subject.public_id} on {device.label}, host {device.host.name}, is {subject.state}"
