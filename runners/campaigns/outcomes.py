"""Outcomes of a campaign's dispatches, from the database: whether the drive sustained each load."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from django.db.models import Prefetch, QuerySet

from results.access.withholding import visible_verdict
from results.models import Reading, Run, Share, Statistic, Verdict, Visibility
from results.rules.act.limits import CountedShare, Limit, is_count_within, nearest_limit, parse_limits
from results.rules.host_causes import HOST_CAUSES
from runners.campaigns.terms import Outcome, Purpose, Result
from runners.models import Dispatch, exit_codes
from runners.models.campaign import Campaign
from runners.models.states import FINAL, State

RATE_NOT_SUSTAINED = "rate-below-asked"  # docs/reference/findings.md
INCONCLUSIVE = {State.FAILED: Result.UNUSABLE, State.REFUSED: Result.REFUSED, State.CANCELLED: Result.CANCELLED}
REMEDY = "fix that at the host and resume the campaign, or cancel it and start one that may overwrite the data"
UNREAD = {Reading.State.PENDING, Reading.State.READING}


@dataclass(frozen=True)
class Rung:
    """One load of a campaign: a dispatch, the run of its log (None if none), its worst shares, and its outcome."""

    dispatch: Dispatch
    run: Run | None
    shares: tuple[Share, ...]
    verdict: Verdict | None
    outcome: Outcome


@dataclass(frozen=True)
class _Judged:
    """A result with its reason, and the distance to the nearest limit."""

    result: Result
    reason: str
    margin: Fraction | None = None


def rungs_of(campaign: Campaign) -> list[Rung]:
    """Return every dispatch of a campaign in order, with a number of queries that does not depend on them."""
    return _read(campaign, campaign.dispatches.order_by("campaign_step"))


def rungs_by_campaign(campaigns: Iterable[Campaign]) -> dict[int, list[Rung]]:
    """Return every dispatch of several campaigns, by campaign id, with as many queries as for one campaign."""
    known = {campaign.pk: (parse_limits(campaign.profile.document), campaign.resumed_at) for campaign in campaigns}
    found: dict[int, list[Rung]] = {campaign_id: [] for campaign_id in known}
    for dispatch in with_readings(Dispatch.objects.filter(campaign__in=known).order_by("campaign_step")):
        if dispatch.campaign_id is not None:
            found[dispatch.campaign_id].append(rung_of(dispatch, *known[dispatch.campaign_id]))
    return found


def rungs_before(campaign: Campaign, since: datetime) -> list[Rung]:
    """Return the other runs on a campaign's drive that ended since then, by the campaign's limits."""
    others = Dispatch.objects.filter(drive_key=campaign.drive_key, ended_at__gte=since)
    return _read(campaign, others.exclude(campaign=campaign).order_by("ended_at"))


def _read(campaign: Campaign, dispatches: QuerySet[Dispatch]) -> list[Rung]:
    limits = parse_limits(campaign.profile.document)
    return [rung_of(dispatch, limits, campaign.resumed_at) for dispatch in with_readings(dispatches)]


def with_readings(dispatches: QuerySet[Dispatch]) -> QuerySet[Dispatch]:
    """Prefetch what `rung_of` needs, for all rows at once."""
    related = dispatches.select_related("device__host", "submission__log", "retry_of")
    return related.prefetch_related(
        "submission__log__readings",
        Prefetch("submission__runs", Run.objects.with_withheld_flag().select_related("reading__evidence")),
        "submission__runs__shares",
        "submission__runs__verdicts",
        "submission__runs__findings",
        "drive_states__dispatch",
    )


def rung_of(dispatch: Dispatch, limits: Sequence[Limit], resumed_at: datetime | None = None) -> Rung:
    """Return the outcome of a dispatch by these limits."""
    run = _run_of(dispatch)
    shares = tuple(share for share in run.shares.all() if share.statistic == Statistic.WORST_SLICE) if run else ()
    newest = next(iter(run.verdicts.all()), None) if run else None
    verdict = visible_verdict(run, newest) if run and newest else None
    judged = _judge(dispatch, run, verdict, shares, limits)
    outcome = Outcome(
        id=dispatch.public_id,
        purpose=_purpose_of(dispatch),
        nx=dispatch.nx_load,
        result=judged.result,
        duration_s=dispatch.duration_s,
        ended_s=None if dispatch.ended_at is None else int(dispatch.ended_at.timestamp()),
        margin=judged.margin,
        is_excused=resumed_at is not None and dispatch.ordered_at < resumed_at,
        reason=judged.reason,
        has_run=dispatch.started_at is not None or dispatch.state == State.LOST,
        host_causes=_host_causes(run) if run else (),
    )
    return Rung(dispatch, run, shares, verdict, outcome)


def _host_causes(run: Run) -> tuple[str, ...]:
    """Return the findings that say the host may have caused a failure, as in the verdict's headline."""
    causes = (run.facts.get("side_file") or {}).get("host_causes")
    if causes is None:  # a reading of drivetest 0.3 or earlier
        causes = {finding.rule_id for finding in run.findings.all()} & HOST_CAUSES.keys()
    return tuple(sorted(causes))


def _purpose_of(dispatch: Dispatch) -> Purpose:
    """Return the purpose of a dispatch. One that no campaign ordered counts as a screening run."""
    if dispatch.purpose:
        return Purpose(dispatch.purpose)
    return Purpose.PREP if dispatch.recipe == Purpose.PREP else Purpose.SCREENING


def _run_of(dispatch: Dispatch) -> Run | None:
    """Return the current run of the newest reading."""
    runs = dispatch.submission.runs.all() if dispatch.submission else []
    standing = [run for run in runs if run.visibility != Visibility.SUPERSEDED]
    return max(standing, key=lambda run: (run.reading_id or 0, -run.ordinal), default=None)


def _judge(
    dispatch: Dispatch, run: Run | None, verdict: Verdict | None, shares: Sequence[Share], limits: Sequence[Limit]
) -> _Judged:
    """Return what the campaign learns from a dispatch, in the order in which facts become known."""
    state = State(dispatch.state)
    if state not in FINAL:
        return _Judged(Result.OPEN, "")
    if state is State.LOST:
        return _lost(dispatch)
    if state in INCONCLUSIVE:
        # What drivetest refused once, it would refuse again. Earlier versions recorded a refusal as failed.
        is_refused = dispatch.exit_status == exit_codes.REFUSED
        refused = _Judged(Result.REFUSED, f"{dispatch.reason}; {REMEDY}")
        return refused if is_refused else _Judged(INCONCLUSIVE[state], dispatch.reason)
    if _purpose_of(dispatch) is Purpose.PREP:
        return _of_prep(dispatch)
    if dispatch.exit_status == exit_codes.OVERLOADED:
        return _Judged(Result.OVERLOADED, dispatch.reason)
    return _without_run(dispatch) if run is None else _of_run(dispatch, run, verdict, shares, limits)


def _lost(dispatch: Dispatch) -> _Judged:
    if dispatch.ended_at is None:
        return _Judged(Result.OPEN, f"{dispatch} was lost; the host has not confirmed yet that the program has ended")
    return _Judged(Result.UNUSABLE, dispatch.reason)


def _of_prep(dispatch: Dispatch) -> _Judged:
    """Return the outcome of a preparation. If it is not shown to be complete, no later run certifies anything."""
    if dispatch.exit_status != exit_codes.FINISHED:
        return _Judged(Result.UNUSABLE, dispatch.reason)
    if dispatch.preparation_id is None:
        unproven = (
            f"its record does not show that the whole drive was prepared without interruption ({dispatch.reason})"
        )
        return _Judged(Result.UNUSABLE, unproven)
    return _Judged(Result.PASSED, dispatch.reason)


def _of_run(
    dispatch: Dispatch, run: Run, verdict: Verdict | None, shares: Sequence[Share], limits: Sequence[Limit]
) -> _Judged:
    """Return the outcome of a run that drivetest did not stop. A run too short for a verdict has no failing slice."""
    if inconclusive := _untrusted(run, verdict):
        return inconclusive
    if any(finding.rule_id == RATE_NOT_SUSTAINED for finding in run.findings.all()):
        return _Judged(Result.OVERLOADED, "the load was not sustained: see the findings of the run")
    if dispatch.purpose == Purpose.STRESS:
        return _Judged(Result.PASSED, "the run completed")
    has_failed = verdict is not None and verdict.outcome == Verdict.Outcome.FAIL
    return _by_limits(shares, limits, verdict.sentence if verdict and has_failed else "")


def _untrusted(run: Run, verdict: Verdict | None) -> _Judged | None:
    """Return why a run says nothing about the drive; None if it does."""
    if verdict is None or verdict.outcome == Verdict.Outcome.VOID:
        return _Judged(Result.UNUSABLE, verdict.sentence if verdict else "the log was not judged")
    stop = (run.facts.get("stop") or {}).get("kind")
    if stop != "finished":
        seen = f"its end is: {stop}" if stop else "it does not report its end"
        return _Judged(Result.UNUSABLE, f"the log is not that of a finished run; {seen}")
    return None


def _without_run(dispatch: Dispatch) -> _Judged:
    readings = list(dispatch.submission.log.readings.all()) if dispatch.submission else []
    if any(reading.state in UNREAD for reading in readings):
        return _Judged(Result.OPEN, f"{dispatch} has ended, and its log is being read")
    return _Judged(Result.UNUSABLE, "the log could not be read as a run")


def _by_limits(shares: Sequence[Share], limits: Sequence[Limit], why_it_fails: str) -> _Judged:
    """Judge by the profile's rule: every share of the worst slice within its limit, by counts."""
    counted = {
        share.threshold_us: CountedShare(share.threshold_us, share.over_count, share.ops_count)
        for share in shares
        if share.over_count is not None and share.ops_count
    }
    missing = [limit for limit in limits if limit.threshold_us not in counted]
    if missing or not limits:
        return _Judged(Result.UNUSABLE, "the log has no complete slice to judge")
    found = nearest_limit(counted.values(), limits)
    is_within = all(
        is_count_within(counted[each.threshold_us].over_count, counted[each.threshold_us].ops_count, each.limit_pct)
        for each in limits
    )
    margin = found[1] if found else None
    return _Judged(Result.PASSED, "", margin) if is_within else _Judged(Result.FAILED, why_it_fails, margin)
