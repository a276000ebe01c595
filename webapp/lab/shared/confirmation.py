"""Asking once, on a page that does not renew itself, before something is ended or drives are written over again."""

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
    """What is asked, what a yes does, and the addresses of both answers: `deed` is posted to, `back` leads back."""

    subject: str
    words: str
    what_happens: str
    button: str
    deed: str
    back: str
    back_words: str
    keeps_reason: bool = True


def ask(request: UserRequest, question: Question, **more: Any) -> HttpResponse:
    """Answer with the page that asks; `more` are cautions, and the device whose label has to be typed."""
    return render(request, "lab/shared/confirm.html", {"question": question, "section": "lab"} | more)


# What a yes does, in the state in which a dispatch stands; what has ended, and may be cancelled no more, has none.
CANCELS = {
    State.QUEUED: "Nothing of it was started. It is taken out of the queue.",
    State.CLAIMED: "Nothing of it was started yet. A program that starts meanwhile is ended on the host.",
    State.PREPARING: "It is being started. A program of it that runs by then is ended on the host; what that has "
    "measured is not taken in.",
    State.RUNNING: "Its program is ended on the host and cannot go on from there; what it has measured so far is not "
    "taken in.",
    State.COLLECTING: "Its program has ended, and its log is taken in all the same. Only where that cannot be is it "
    "cancelled: the log then stays on the host.",
    State.LOST: "It stays lost. A program of it that still runs is ended, and the drive is free once the host says "
    "that nothing runs.",
}
ENDED = "It has ended: nothing is left to cancel."


def of_cancel(dispatch: Dispatch) -> Question:
    """Return the question before a run is cancelled."""
    names = [dispatch.public_id]
    return Question(
        subject=dispatch.public_id,
        words="Cancel this run?",
        what_happens=f"{_where(dispatch)}, is {dispatch.state}. {_what_a_cancel_does(dispatch)}",
        button="Cancel this run",
        deed=reverse("dispatch-cancel", args=names),
        back=reverse("dispatch-detail", args=names),
        back_words="Leave it",
    )


def _what_a_cancel_does(dispatch: Dispatch) -> str:
    is_freed = dispatch.state == State.LOST and dispatch.ended_at is not None
    return ENDED if is_freed else CANCELS.get(State(dispatch.state), ENDED)


def of_retry(dispatch: Dispatch) -> Question:
    """Return the question before a run is ordered again."""
    names = [dispatch.public_id]
    return Question(
        subject=dispatch.public_id,
        words="Order it again?",
        what_happens=f"{_where(dispatch)}, {dispatch.state}. The same is queued anew and overwrites "
        f"{dispatch.device.path}.",
        button="Order it again",
        deed=reverse("dispatch-retry", args=names),
        back=reverse("dispatch-detail", args=names),
        back_words="Leave it",
        keeps_reason=False,
    )


def of_campaign_cancel(campaign: Campaign) -> Question:
    """Return the question before a campaign is cancelled."""
    names = [campaign.public_id]
    return Question(
        subject=campaign.public_id,
        words="Cancel the campaign?",
        what_happens=f"{campaign.public_id} on {campaign.device.label}, host {campaign.device.host.name}, is "
        f"{campaign.state}. A run that is under way is ended and not taken in, and the campaign cannot go on from "
        "there. The runs that it has made stay.",
        button="Cancel the campaign",
        deed=reverse("campaign-cancel", args=names),
        back=reverse("campaign-detail", args=names),
        back_words="Leave it",
    )


def _where(dispatch: Dispatch) -> str:
    return f"{dispatch.public_id} on {dispatch.device.label}, host {dispatch.device.host.name}"
