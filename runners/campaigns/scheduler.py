"""One look at a campaign makes the step that is due: at most one dispatch, however many workers look."""

import logging
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from runners.campaigns.ladder import Rung, rungs_before, rungs_of
from runners.campaigns.messages import named
from runners.campaigns.planner import Finish, Pause, Run, Wait, longest_rest_s, next_step
from runners.campaigns.requirements import change_to_look_at, missing_for_certificate
from runners.campaigns.terms import Purpose, terms_of
from runners.dispatch.orders import Order, Place, order
from runners.inventory.safety import is_told, signature_of
from runners.inventory.service_state import OutOfServiceError, hold_in_service
from runners.locks import climbing
from runners.models import UNCONFIRMED, Dispatch, DriveState
from runners.models.campaign import Campaign, CampaignEntry
from runners.models.dispatch import DESTROY
from runners.models.postgres import storable
from runners.models.states import FINAL, WORKER
from runners.recipes import RECIPES

log = logging.getLogger(__name__)

Kind = CampaignEntry.Kind
PREP = "prep"


def look_at_campaigns() -> None:
    """Look at every campaign that something may be due for."""
    for campaign_id in due().order_by("ordered_at").values_list("pk", flat=True):
        try:
            look(campaign_id)
        except Exception:
            # One campaign that the register stumbles over must not hold up the others; the next look tries again.
            log.exception("campaign %s: stumbled", campaign_id)


def due() -> QuerySet[Campaign]:
    """Return the campaigns that something may be due for: not while one rests, or has a dispatch under way.

    A look reads every run of a campaign, and is taken every few seconds.
    """
    under_way = Dispatch.objects.filter(campaign=OuterRef("pk")).exclude(state__in=FINAL)
    rests = Q(next_at__gt=timezone.now())
    active = Campaign.objects.filter(~rests, ~Exists(under_way), state=Campaign.State.ACTIVE)
    return active | Campaign.objects.filter(state=Campaign.State.CANCELLING)


def look(campaign_id: int) -> None:
    """Make the step that is due, unless another worker is at it."""
    with climbing(campaign_id) as is_held:
        if is_held:
            campaign = Campaign.objects.select_related("device__host", "organisation", "ordered_by", "profile")
            advance(campaign.get(pk=campaign_id))


def advance(campaign: Campaign) -> None:
    """Make the step that is due. Whoever comes second finds the row changed, and changes nothing."""
    if campaign.state == Campaign.State.CANCELLING:
        _confirm_cancel(campaign)
        return
    rungs = rungs_of(campaign)
    now, terms = timezone.now(), terms_of(campaign.terms)
    before = rungs_before(campaign, now - timedelta(seconds=longest_rest_s(terms)))
    outcomes, earlier = ([rung.outcome for rung in each] for each in (rungs, before))
    step = next_step(terms, outcomes, int(now.timestamp()), earlier)
    if isinstance(step, Run) and (change := change_to_look_at(rungs)):
        step = Pause(change)
    if isinstance(step, Run):
        _order(campaign, step)
    elif isinstance(step, Wait):
        _wait(campaign, step)
    elif isinstance(step, Pause):
        _change(campaign, Kind.PAUSED, step.reason, state=Campaign.State.PAUSED)
    else:
        _finish(campaign, step, rungs)


def _order(campaign: Campaign, run: Run) -> None:
    """Count the step and order its dispatch in one transaction: the count is what two workers cannot both find."""
    recipe = PREP if run.purpose is Purpose.PREP else campaign.recipe
    if recipe not in RECIPES:
        _note(campaign, f"waits for the recipe {recipe}, which this register does not have")
        return
    try:
        with transaction.atomic():
            # The drive first, then the campaign's row, as where a campaign is started: else each waits for the other.
            hold_in_service(campaign.device)
            _order_held(campaign, run, recipe)
    except OutOfServiceError as error:
        _change(campaign, Kind.PAUSED, str(error), state=Campaign.State.PAUSED)


def _order_held(campaign: Campaign, run: Run, recipe: str) -> None:
    number = campaign.steps_count + 1
    found = Campaign.objects.filter(pk=campaign.pk, state=Campaign.State.ACTIVE, steps_count=campaign.steps_count)
    if not found.update(steps_count=number, reason=f"{named(run.purpose, run.nx)}: {run.reason}", next_at=None):
        return
    place = Place(campaign, number, run.purpose, _retried(campaign, run))
    dispatch = order(campaign.device, campaign.organisation, _asked(campaign, run, recipe), campaign.ordered_by, place)
    _enter(campaign, Kind.ORDERED, f"{named(run.purpose, run.nx)}: {run.reason}", dispatch)


def _retried(campaign: Campaign, run: Run) -> Dispatch | None:
    return campaign.dispatches.get(public_id=run.retry_of) if run.retry_of else None


def _asked(campaign: Campaign, run: Run, recipe: str) -> Order:
    slice_length_s = terms_of(campaign.terms).slice_length_s
    if run.duration_s is not None:
        slice_length_s = min(slice_length_s, run.duration_s)
    of_load, consent = dict(campaign.options), {}
    if (consented := of_load.pop(DESTROY, None)) and not _is_written_over(campaign):
        consent = {DESTROY: consented}
    options = (of_load if recipe == campaign.recipe else {}) | consent
    return Order(run.nx, run.duration_s, slice_length_s, options, campaign.facts, recipe)


def _is_written_over(campaign: Campaign) -> bool:
    """Tell whether the data that a campaign may write over is gone: whatever is recognised later is somebody else's."""
    told = DriveState.objects.filter(dispatch__campaign=campaign).values_list("document", flat=True)
    return any(is_told(document) and not signature_of(document) for document in told)


def _wait(campaign: Campaign, wait: Wait) -> None:
    """Say what it waits for; a rest is entered once, when it begins."""
    if wait.until_s is None:
        _note(campaign, wait.reason)
        return
    next_at = datetime.fromtimestamp(wait.until_s, UTC)
    if campaign.next_at != next_at:
        _change(campaign, Kind.RESTED, wait.reason, next_at=next_at)


def _finish(campaign: Campaign, finish: Finish, rungs: list[Rung]) -> None:
    ended = {
        "state": Campaign.State.FINISHED,
        "end": finish.end,
        "confirmed_nx": finish.nx,
        "missing": missing_for_certificate(campaign, finish.nx, rungs),
        "ended_at": timezone.now(),
        "next_at": None,
    }
    _change(campaign, Kind.FINISHED, finish.reason, **ended)


def _confirm_cancel(campaign: Campaign) -> None:
    """Cancelled is said when no dispatch can have a program left on the host."""
    left = campaign.dispatches.filter(~Q(state__in=FINAL) | UNCONFIRMED).first()
    if left is not None:
        _note(campaign, f"a cancel was asked for; waits until the host has said that {left} has ended")
        return
    cancelled = {"state": Campaign.State.CANCELLED, "ended_at": timezone.now()}
    _change(campaign, Kind.CANCELLED, "nothing of it runs on the host", **cancelled)


def _change(campaign: Campaign, kind: str, reason: str, **columns: object) -> None:
    """Change the row with its entry, unless somebody else has changed its state meanwhile."""
    reason = storable(reason)
    with transaction.atomic():
        found = Campaign.objects.filter(pk=campaign.pk, state=campaign.state, steps_count=campaign.steps_count)
        if found.update(reason=reason, **columns):
            _enter(campaign, kind, reason)


def _note(campaign: Campaign, reason: str) -> None:
    if campaign.reason != reason:
        Campaign.objects.filter(pk=campaign.pk, state=campaign.state).update(reason=storable(reason))


def _enter(campaign: Campaign, kind: str, reason: str, dispatch: Dispatch | None = None) -> None:
    CampaignEntry.objects.create(campaign=campaign, dispatch=dispatch, kind=kind, actor=WORKER, reason=storable(reason))
