"""The campaign scheduler: each poll makes the step that is due, at most one dispatch among all workers."""

import logging
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from results.errors import contained
from results.locks import try_lock
from runners.campaigns.messages import step_name
from runners.campaigns.outcomes import Rung, rungs_before, rungs_of
from runners.campaigns.planner import Finish, Pause, Run, Wait, longest_rest_s, next_step
from runners.campaigns.requirements import invalidating_change, missing_for_certificate
from runners.campaigns.terms import Purpose, parse_terms
from runners.dispatch.orders import Order, order
from runners.inventory.safety import is_signature_reported, signature_of
from runners.inventory.service_state import OutOfServiceError, lock_in_service
from runners.models import LOST_UNCONFIRMED, Dispatch, DriveState
from runners.models.campaign import Campaign, CampaignEntry
from runners.models.dispatch import ALONE_OPTION, CONSENT_OPTION
from runners.models.postgres import CAMPAIGN_LOCK, storable
from runners.models.states import FINAL, WORKER

log = logging.getLogger(__name__)

State, Kind = Campaign.State, CampaignEntry.Kind
POLLED = (State.ACTIVE, State.CANCELLING)


def run_due() -> None:
    """Poll every campaign that may have a step due."""
    for campaign_id in due().order_by("ordered_at").values_list("pk", flat=True):
        with contained(log, "campaign %s: internal error", campaign_id):
            poll(campaign_id)


def due() -> QuerySet[Campaign]:
    """Return the campaigns that may have a step due: not resting, and without an unfinished dispatch.

    A poll reads every run of a campaign, and this query runs every few seconds.
    """
    unfinished = Dispatch.objects.filter(campaign=OuterRef("pk")).exclude(state__in=FINAL)
    rests = Q(next_at__gt=timezone.now())
    active = Campaign.objects.filter(~rests, ~Exists(unfinished), state=State.ACTIVE)
    return active | Campaign.objects.filter(state=State.CANCELLING)


def poll(campaign_id: int) -> None:
    """Make the step that is due, unless another worker polls the campaign.

    The state is read under the lock: since `due` listed the campaign, another worker may have confirmed its
    cancellation, or a person may have paused it.
    """
    with try_lock(CAMPAIGN_LOCK, campaign_id) as is_locked:
        if not is_locked:
            return
        polled = Campaign.objects.filter(pk=campaign_id, state__in=POLLED)
        campaign = polled.select_related("device__host", "organisation", "ordered_by", "profile").first()
        if campaign is not None:
            advance(campaign)


def advance(campaign: Campaign) -> None:
    """Make the step that is due for a campaign in one of the states POLLED.

    If another worker was faster, the row has changed and nothing happens.
    """
    if campaign.state == State.CANCELLING:
        _confirm_cancel(campaign)
        return
    rungs = rungs_of(campaign)
    now, terms = timezone.now(), parse_terms(campaign.terms)
    before = rungs_before(campaign, now - timedelta(seconds=longest_rest_s(terms)))
    outcomes, earlier = ([rung.outcome for rung in each] for each in (rungs, before))
    step = next_step(terms, outcomes, int(now.timestamp()), earlier)
    if isinstance(step, Run) and (change := invalidating_change(rungs)):
        step = Pause(change)
    if isinstance(step, Run):
        _order(campaign, step)
    elif isinstance(step, Wait):
        _wait(campaign, step)
    elif isinstance(step, Pause):
        _change(campaign, Kind.PAUSED, step.reason, state=State.PAUSED)
    else:
        _finish(campaign, step, rungs)


def _order(campaign: Campaign, run: Run) -> None:
    """Count the step and order its dispatch in one transaction: two workers cannot both find the same count."""
    number, reason = campaign.steps_count + 1, f"{step_name(run.purpose, run.nx)}: {run.reason}"
    recipe = "prep" if run.purpose is Purpose.PREP else campaign.recipe
    try:
        with transaction.atomic():
            # Lock the drive first, then the campaign's row, as at its start: otherwise each waits for the other.
            lock_in_service(campaign.device)
            found = Campaign.objects.filter(pk=campaign.pk, state=State.ACTIVE, steps_count=campaign.steps_count)
            if found.update(steps_count=number, reason=reason, next_at=None):
                retry_of = campaign.dispatches.get(public_id=run.retry_of) if run.retry_of else None
                step = {"campaign": campaign, "campaign_step": number, "purpose": run.purpose, "retry_of": retry_of}
                requested = _build_order(campaign, run, recipe)
                dispatch = order(campaign.device, campaign.organisation, requested, campaign.ordered_by, **step)
                _add_entry(campaign, Kind.ORDERED, reason, dispatch)
    except OutOfServiceError as error:
        _change(campaign, Kind.PAUSED, str(error), state=State.PAUSED)


def _build_order(campaign: Campaign, run: Run, recipe: str) -> Order:
    terms = parse_terms(campaign.terms)
    slice_length_s = terms.slice_length_s
    if run.duration_s is not None:
        slice_length_s = min(slice_length_s, run.duration_s)
    of_load, consent = dict(campaign.options), {}
    if terms.alone_on_host:
        of_load[ALONE_OPTION] = True
    if (consented := of_load.pop(CONSENT_OPTION, None)) and not _is_overwritten(campaign):
        consent = {CONSENT_OPTION: consented}
    options = (of_load if recipe == campaign.recipe else {}) | consent
    return Order(run.nx, run.duration_s, slice_length_s, options, campaign.facts, recipe)


def _is_overwritten(campaign: Campaign) -> bool:
    """Return whether the data that a campaign may overwrite is gone: data recognised later belongs to other people."""
    documents = DriveState.objects.filter(dispatch__campaign=campaign).values_list("document", flat=True)
    return any(is_signature_reported(document) and not signature_of(document) for document in documents)


def _wait(campaign: Campaign, wait: Wait) -> None:
    """Record what it waits for; a rest gets one entry, when it begins."""
    if wait.until_s is None:
        _update_reason(campaign, wait.reason)
        return
    next_at = datetime.fromtimestamp(wait.until_s, UTC)
    if campaign.next_at != next_at:
        _change(campaign, Kind.RESTED, wait.reason, next_at=next_at)


def _finish(campaign: Campaign, finish: Finish, rungs: list[Rung]) -> None:
    ended = {
        "state": State.FINISHED,
        "end": finish.end,
        "confirmed_nx": finish.nx,
        "missing": missing_for_certificate(campaign, finish.nx, rungs),
        "ended_at": timezone.now(),
        "next_at": None,
    }
    _change(campaign, Kind.FINISHED, finish.reason, **ended)


def _confirm_cancel(campaign: Campaign) -> None:
    """Complete the cancellation when no dispatch can have a program on the host."""
    left = campaign.dispatches.filter(~Q(state__in=FINAL) | LOST_UNCONFIRMED).first()
    if left is not None:
        _update_reason(campaign, f"the campaign waits until the host confirms that {left} has ended")
        return
    cancelled = {"state": State.CANCELLED, "ended_at": timezone.now()}
    _change(campaign, Kind.CANCELLED, "no program of the campaign runs on the host", **cancelled)


def _change(campaign: Campaign, kind: str, reason: str, **columns: object) -> None:
    """Change the row and add the entry, unless its state has changed meanwhile."""
    reason = storable(reason)
    with transaction.atomic():
        found = Campaign.objects.filter(pk=campaign.pk, state=campaign.state, steps_count=campaign.steps_count)
        if found.update(reason=reason, **columns):
            _add_entry(campaign, kind, reason)


def _update_reason(campaign: Campaign, reason: str) -> None:
    if campaign.reason != reason:
        Campaign.objects.filter(pk=campaign.pk, state=campaign.state).update(reason=storable(reason))


def _add_entry(campaign: Campaign, kind: str, reason: str, dispatch: Dispatch | None = None) -> None:
    CampaignEntry.objects.create(campaign=campaign, dispatch=dispatch, kind=kind, actor=WORKER, reason=storable(reason))
