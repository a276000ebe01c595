"""Contents of a campaign's page. They come from the register's own tables."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from django.db.models import Q
from django.utils import timezone

from results.models import Share
from results.rules.act.limits import Limit, is_count_within, parse_limits
from runners.campaigns.forecast import forecast
from runners.campaigns.messages import NAMES
from runners.campaigns.outcomes import Rung, rungs_of
from runners.campaigns.requirements import conditions_of, has_shortened_runs
from runners.campaigns.terms import Outcome, Purpose, Result, Terms, parse_terms
from runners.campaigns.voting import is_near
from runners.models import Dispatch
from runners.models.campaign import Campaign, CampaignEntry
from runners.models.states import FINAL, ON_HOST
from webapp.lab.campaigns.chart import panels_of
from webapp.lab.campaigns.forms import CampaignForm
from webapp.lab.dispatches.page import value_label
from webapp.lab.shared.outages import (
    HistoryLine,
    current_outage_message,
    current_outages,
    outage_lines,
    outage_total_message,
    prefetch_outages,
)
from webapp.lab.shared.views import version_of
from webapp.register.tables.marks import nearness_mark
from webapp.templatetags import units

State = Campaign.State
SETTLED = frozenset({State.CANCELLED, State.FINISHED})
STATE_MEANINGS = {
    State.ACTIVE: "the next steps of the campaign start by themselves",
    State.PAUSED: "the campaign orders no runs until it is resumed",
    State.CANCELLING: "the host has not confirmed yet that the program of the campaign ended",
    State.CANCELLED: "the campaign was stopped on request",
    State.FINISHED: "the campaign has ended",  # the page shows the reason instead
}
RESULT_LABELS = {
    Result.OPEN: "running",
    Result.PASSED: "passes",
    Result.FAILED: "fails",
    Result.OVERLOADED: "cannot keep up",
    Result.UNUSABLE: "no usable result",
    Result.REFUSED: "refused",
    Result.CANCELLED: "cancelled",
}


def campaign_context(campaign: Campaign, rungs: list[Rung]) -> dict[str, Any]:
    """Return the template context of the page and of its live part."""
    terms, limits = parse_terms(campaign.terms), parse_limits(campaign.profile.document)
    state = State(campaign.state)
    current, others = _current_dispatch(rungs), concurrent_dispatches(campaign)
    prefetch_outages(rung.dispatch for rung in rungs)
    return {
        "version": version_of_campaign(campaign, rungs, others),
        "campaign": campaign,
        "meaning": STATE_MEANINGS[state],
        "is_settled": state in SETTLED,
        "is_finished": state is State.FINISHED,
        "is_paused": state is State.PAUSED,
        "may_pause": state is State.ACTIVE,
        "may_cancel": state in {State.ACTIVE, State.PAUSED},
        "limits": limits,
        "rows": [_row(rung, limits, terms) for rung in rungs],
        "panels": panels_of(rungs, limits, campaign.confirmed_nx),
        "current": current,
        "outage": current_outage_message(current) if current else "",
        "estimate": None if state in SETTLED else estimate_of(terms, rungs),
        "history": history_of(campaign, rungs),
        "concurrent_dispatches": [] if state in SETTLED else others,
        "conditions": conditions_of(campaign, rungs) if state is State.FINISHED else [],
        "is_shortened": has_shortened_runs(campaign),
        "terms": [(label_of(name), value_label(value)) for name, value in terms.as_json().items()],
    }


def version_of_campaign(campaign: Campaign, rungs: list[Rung], others: list[Dispatch]) -> str:
    """Return the version of the live part; the estimate is refreshed when something else changes."""
    prefetch_outages(rung.dispatch for rung in rungs)
    of_campaign = [campaign.state, campaign.reason, campaign.next_at, campaign.terms, campaign.steps_count]
    of_rungs = [
        [
            rung.dispatch.shown_state,
            rung.dispatch.last_label_s,
            outage_total_message(rung.dispatch),
            rung.outcome.result,
            rung.run and rung.run.public_id,
        ]
        for rung in rungs
    ]
    others_ids = [dispatch.public_id for dispatch in others]
    current = _current_dispatch(rungs)
    return version_of([of_campaign, of_rungs, others_ids, current and current_outages(current)])


def concurrent_dispatches(campaign: Campaign) -> list[Dispatch]:
    """Return other dispatches that may run on the campaign's host and may influence its measurements."""
    host = campaign.device.host
    on_host = Dispatch.objects.filter(Q(device__host=host) | Q(load_host=host), state__in=ON_HOST)
    return list(on_host.exclude(campaign=campaign).order_by("pk"))


def _current_dispatch(rungs: list[Rung]) -> Dispatch | None:
    return next((rung.dispatch for rung in rungs if rung.dispatch.state not in FINAL), None)


def _row(rung: Rung, limits: tuple[Limit, ...], terms: Terms) -> dict[str, Any]:
    """Return what the table shows of one dispatch of the campaign."""
    by_threshold = {share.threshold_us: share for share in rung.shares}
    result = rung.outcome.result
    return {
        "number": rung.dispatch.campaign_step or 0,
        "name": NAMES[rung.outcome.purpose],
        "dispatch": rung.dispatch,
        "run_id": rung.run.public_id if rung.run else "",
        "cells": [(limit, _cell(by_threshold.get(limit.threshold_us), limit)) for limit in limits],
        "result": _result_label(rung.outcome),
        "is_fail": result in {Result.FAILED, Result.OVERLOADED},
        "is_near": result in {Result.PASSED, Result.FAILED} and is_near(rung.outcome, terms),
        "is_open": result is Result.OPEN,
        "reason": "" if result in {Result.PASSED, Result.OPEN} else rung.outcome.reason,
        "outage_total": outage_total_message(rung.dispatch),
    }


def _result_label(outcome: Outcome) -> str:
    if outcome.result is Result.PASSED and outcome.purpose in {Purpose.PREP, Purpose.STRESS}:
        return "done" if outcome.purpose is Purpose.PREP else "ran to completion"
    return RESULT_LABELS[outcome.result]


def _cell(share: Share | None, limit: Limit) -> dict[str, Any] | None:
    """Return a share and its distance from the limit; None if it has no counts."""
    if share is None or share.over_count is None or not share.ops_count:
        return None
    is_over = not is_count_within(share.over_count, share.ops_count, limit.limit_pct)
    mark = nearness_mark(share.share_pct, limit.limit_pct, is_over=is_over)
    return {"printed": units.share(share.printed, share.over_count), "is_over": is_over, "mark": mark}


def estimate_of(terms: Terms, rungs: list[Rung]) -> dict[str, Any] | None:
    """Return the earliest and latest end of a campaign; None if it waits for a person."""
    expected = forecast(terms, [_expected(rung) for rung in rungs], int(timezone.now().timestamp()))
    if expected is None:
        return None
    earliest, latest = (datetime.fromtimestamp(at_s, UTC) for at_s in (expected.earliest_s, expected.latest_s))
    return {"earliest": earliest, "latest": latest, "forecast": expected}


def _expected(rung: Rung) -> Outcome:
    """Return the outcome of a rung; an open outcome gets its expected end."""
    dispatch = rung.dispatch
    if rung.outcome.result is not Result.OPEN or dispatch.duration_s is None:
        return rung.outcome
    begun = dispatch.started_at or timezone.now()
    return replace(rung.outcome, duration_s=dispatch.duration_s, ended_s=int(begun.timestamp()) + dispatch.duration_s)


def ladder_document(campaign: Campaign) -> dict[str, Any]:
    """Return the ladder as a JSON document with the content of the table; its decimals become text."""
    rungs, limits = rungs_of(campaign), parse_limits(campaign.profile.document)
    return {
        "schema": "drivecert.campaign-ladder/1",
        "campaign": campaign.public_id,
        "state": campaign.state,
        "confirmed_nx": campaign.confirmed_nx,
        "limits": [{"threshold_us": limit.threshold_us, "limit_pct": limit.limit_pct} for limit in limits],
        "rungs": [_rung_document(rung) for rung in rungs],
    }


def _rung_document(rung: Rung) -> dict[str, Any]:
    return {
        "step": rung.dispatch.campaign_step,
        "dispatch": rung.dispatch.public_id,
        "run": rung.run.public_id if rung.run else None,
        "purpose": rung.outcome.purpose,
        "nx_load": rung.outcome.nx,
        "duration_s": rung.outcome.duration_s,
        "result": rung.outcome.result,
        "shares": [
            {"threshold_us": share.threshold_us, "over_count": share.over_count, "ops_count": share.ops_count}
            for share in rung.shares
        ],
    }


def history_of(campaign: Campaign, rungs: list[Rung]) -> list[HistoryLine]:
    """Return the history in the order of time. An outage is listed at its end, as in the history of its dispatch."""
    entries = [_entry_line(entry) for entry in campaign.entries.select_related("dispatch")]
    outages = [line for rung in rungs for line in outage_lines(rung.dispatch)]
    return sorted([*entries, *outages], key=lambda line: line.at)


def _entry_line(entry: CampaignEntry) -> HistoryLine:
    """Return a line with the reason and the changed terms, for example "Highest load, Nx from 400 to 12"."""
    changes = entry.details.items() if entry.kind == CampaignEntry.Kind.CHANGED else ()
    texts = [entry.reason, *(f"{label_of(name)} from {was} to {is_now}" for name, (was, is_now) in changes)]
    detail = "; ".join(text for text in texts if text)
    return HistoryLine(entry.at, entry.get_kind_display().lower(), entry.dispatch, detail, entry.actor)


def label_of(name: str) -> str:
    """Return the label of a term in the form."""
    return str(CampaignForm.base_fields[name].label)
