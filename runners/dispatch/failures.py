"""Failures of polls: what becomes of a dispatch if its host or the register fails."""

import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from runners.dispatch.poll_period import run_period_s
from runners.errors import HostError
from runners.lifecycle.clock_steps import CLOCK_STEPS
from runners.lifecycle.transitions import add_step, transition, update_reason
from runners.models import Dispatch, HostOutage, Step
from runners.models.states import ON_HOST, WORKER, State

log = logging.getLogger(__name__)

# A heartbeat is stored every few seconds. A worker that restarts, or a busy register, needs less time than this.
REGISTER_OUTAGE_S = 30


def handle_host_error(dispatch: Dispatch, error: HostError) -> bool:
    """End a dispatch if a retry cannot help. A running program is given up only after a long outage.

    After a step of the clock it is not known how long the outage has lasted: it counts from then on.
    """
    log.warning("%s: %s: %s", dispatch.public_id, type(error).__name__, error)
    state = State(dispatch.state)
    if not error.retry and state is not State.RUNNING:
        return transition(dispatch, state, error.ends_in, str(error))
    silent_since = dispatch.silent_since or timezone.now()
    is_over = timezone.now() - silent_since >= timedelta(seconds=settings.HOST_SILENCE_S)
    if is_over and not CLOCK_STEPS.seen_within(settings.HOST_SILENCE_S):
        since = min([silent_since, *dispatch.outages.filter(until=None).values_list("since", flat=True)])
        reason = f"the host has given no usable answer since {since:%Y-%m-%d %H:%M:%S} UTC: {error}"
        return transition(dispatch, state, State.LOST, reason)
    schedule_retry(dispatch)
    update_reason(dispatch, f"a request to the host failed, and the register repeats it: {error}")
    return False


def record_internal_error(dispatch: Dispatch, error: Exception) -> None:
    """Show on the page what the register itself failed at. The next poll tries again, unless a cancel was requested.

    Only a dispatch whose program has ended may be cancelled here: before that a program might still run.
    """
    sentence = f"{type(error).__name__}: {error}"
    if dispatch.state == State.COLLECTING and dispatch.cancel_requested_at:
        reason = f"the register could not collect the log ({sentence}); the log is still on the host"
        transition(dispatch, State.COLLECTING, State.CANCELLED, reason)
        return
    update_reason(dispatch, f"an internal error occurred, and the register tries again: {sentence}")


def record_register_outage(dispatch: Dispatch) -> None:
    """Add to the history that no poll of a dispatch succeeded for a while, if its hosts had no outage meanwhile.

    Call this before a poll. One outage is one line, also if the polls after it fail.
    """
    since, now = dispatch.heartbeat_at, timezone.now()
    if dispatch.state not in ON_HOST or since is None or dispatch.silent_since is not None:
        return
    age = now - since
    # The period is longer if many programs run. They are counted only for an age that is unusual with few.
    if age < timedelta(seconds=REGISTER_OUTAGE_S) or age < timedelta(seconds=2 * run_period_s()):
        return
    if CLOCK_STEPS.seen_within(settings.HOST_SILENCE_S):  # the age may be the step
        return
    host_ids = [dispatch.device.host_id, dispatch.load_host_id]
    has_outage = HostOutage.objects.filter(Q(until=None) | Q(until__gt=since), host__in=filter(None, host_ids)).exists()
    if has_outage or dispatch.steps.filter(kind=Step.Kind.REGISTER_OUTAGE, at__gte=since).exists():
        return
    length_s = round(age.total_seconds())
    reason = (
        f"no poll of this run succeeded for {length_s:,} s, since {since:%Y-%m-%d %H:%M:%S} UTC; "
        "a program on the host does not depend on these polls"
    )
    details = {"since": since.isoformat(), "until": now.isoformat()}
    add_step(dispatch, dispatch.state, Step.Kind.REGISTER_OUTAGE, WORKER, reason, details)


def schedule_retry(dispatch: Dispatch) -> None:
    """Schedule the next poll of a host that did not answer: the longer the outage, the later."""
    silent_since = min(dispatch.silent_since or timezone.now(), timezone.now())  # the clock may have been set back
    again = Now() + _retry_delay(silent_since)
    here = Dispatch.objects.filter(pk=dispatch.pk, state=dispatch.state)
    here.update(silent_since=silent_since)
    # A cancel that was requested during the poll is not delayed: another host of the dispatch may answer.
    here.filter(cancel_requested_at=dispatch.cancel_requested_at).update(next_poll_at=again)
    dispatch.silent_since = silent_since


def _retry_delay(silent_since: datetime) -> timedelta:
    """Return the delay: as long as the host has been silent, but never past the time of giving up."""
    silent_for = timezone.now() - silent_since
    least, most = timedelta(seconds=settings.WATCH_PERIOD_S), timedelta(seconds=settings.SILENT_PERIOD_S)
    until_lost = timedelta(seconds=settings.HOST_SILENCE_S) - silent_for
    if timedelta() < until_lost < most:
        most = until_lost
    return max(least, min(silent_for, most))
