"""A campaign's history as its page tells it: what was done, and when a host of its runs gave no answer."""

from dataclasses import dataclass
from datetime import datetime

from runners.models import Dispatch, Step
from runners.models.campaign import Campaign, CampaignEntry
from runners.monitoring.connectivity import NO_ANSWER
from webapp.lab.campaign_forms import CampaignForm


@dataclass(frozen=True)
class Told:
    """One line of the history; `sentence` may be empty."""

    at: datetime
    word: str
    dispatch: Dispatch | None
    sentence: str
    actor: str


def history_of(campaign: Campaign) -> list[Told]:
    """Return what happened, in its order. A gap is told when it had ended, as in the history of its dispatch."""
    entries = [_of_entry(entry) for entry in campaign.entries.select_related("dispatch")]
    gaps = Step.objects.filter(dispatch__campaign=campaign, reason__startswith=NO_ANSWER).select_related("dispatch")
    told = [*entries, *(_of_gap(step) for step in gaps)]
    return sorted(told, key=lambda line: line.at)


def _of_entry(entry: CampaignEntry) -> Told:
    sentence = "; ".join(part for part in [entry.reason, changed_words(entry)] if part)
    return Told(entry.at, entry.get_kind_display().lower(), entry.dispatch, sentence, entry.actor)


def _of_gap(step: Step) -> Told:
    return Told(step.at, "silence", step.dispatch, step.reason, step.actor)


def changed_words(entry: CampaignEntry) -> str:
    """Return what a change changed: Highest load, Nx from 400 to 12."""
    if entry.kind != CampaignEntry.Kind.CHANGED:
        return ""
    return "; ".join(f"{label_of(name)} from {was} to {is_now}" for name, (was, is_now) in entry.details.items())


def label_of(name: str) -> str:
    """Return what the form calls a term."""
    return str(CampaignForm.base_fields[name].label)
