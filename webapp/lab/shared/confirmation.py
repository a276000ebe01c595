"""Confirmation pages, shown before a run or campaign is cancelled and before a drive is overwritten again.

A confirmation page does not refresh itself, so that its button does not move under the pointer.
"""

from dataclasses import dataclass
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
    back_label: str
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
    names = [dispatch.public_id]
    return Question(
        subject=dispatch.public_id,
        heading="Cancel this run?",
        consequence=f"{_location(dispatch)}, is {dispatch.state}. {_cancel_effect(dispatch)}",
        button="Cancel this run",
        action_url=reverse("dispatch-cancel", args=names),
        back_url=reverse("dispatch-detail", args=names),
        back_label="Do not cancel",
    )


def _cancel_effect(dispatch: Dispatch) -> str:
    is_freed = dispatch.state == State.LOST and dispatch.ended_at is not None
    return NOTHING_TO_CANCEL if is_freed else CANCEL_EFFECTS.get(State(dispatch.state), NOTHING_TO_CANCEL)


def retry_question(dispatch: Dispatch) -> Question:
    """Return the confirmation of a repeated order."""
    names = [dispatch.public_id]
    return Question(
        subject=dispatch.public_id,
        heading="Order this run again?",
        consequence=f"{_location(dispatch)}, is {dispatch.state}. The new run has the same settings and overwrites "
        f"{dispatch.device.path}.",
        button="Order again",
        action_url=reverse("dispatch-retry", args=names),
        back_url=reverse("dispatch-detail", args=names),
        back_label="Go back",
        has_reason_field=False,
    )


def campaign_cancel_question(campaign: Campaign) -> Question:
    """Return the confirmation of a cancelled campaign."""
    names = [campaign.public_id]
    return Question(
        subject=campaign.public_id,
        heading="Cancel the campaign?",
        consequence=f"{campaign.public_id} on {campaign.device.label}, host {campaign.device.host.name}, is "
        f"{campaign.state}. A current run is stopped and its measurements are discarded. The campaign cannot be "
        "resumed. Completed runs stay.",
        button="Cancel the campaign",
        action_url=reverse("campaign-cancel", args=names),
        back_url=reverse("campaign-detail", args=names),
        back_label="Do not cancel",
    )


def _location(dispatch: Dispatch) -> str:
    return f"{dispatch.public_id} on {dispatch.device.label}, host {dispatch.device.host.name}"
