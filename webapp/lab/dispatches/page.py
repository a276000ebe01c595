"""What the page of a dispatch shows, all of it from the register's own tables: a page never asks a host."""

from typing import Any

from django.conf import settings

from results.models import Profile, Run
from results.rules.act.limits import parse_limits
from results.rules.act.loads import READS_PER_S
from runners.campaigns.messages import step_name
from runners.campaigns.terms import Purpose
from runners.dispatch.orders import may_be_retried
from runners.evidence.drive_states import begun_at
from runners.inventory.enrolment import STATE_DIR
from runners.inventory.health import no_work_message
from runners.inventory.service_state import out_of_service
from runners.lifecycle.stages import begun_stages, run_dirs_of
from runners.models import Dispatch, Host, Step
from runners.models.dispatch import CONSENT_OPTION
from runners.models.states import FINAL, State
from runners.monitoring.connectivity import format_seconds, outage_message, outage_s
from runners.recipes import RECIPES
from runners.retention.leftover_archive import (
    FETCH_REQUESTED,
    archive_event,
    is_fetch_pending,
    last_fetch_event,
    may_be_fetched,
    too_large_event,
)
from webapp.lab.dispatches.forms import OrderForm, YcsbForm
from webapp.lab.shared.live_part import version_of
from webapp.lab.shared.run_results import found_by
from webapp.templatetags.units import moment

# What a state means, for whoever waits.
MEANINGS = {
    State.QUEUED: "a worker looks at it next",
    State.CLAIMED: "the drive is held for it, and the host is asked what the drive is",
    State.PREPARING: "it is being started on the host",
    State.RUNNING: "its program runs on the host",
    State.COLLECTING: "its program has ended, and its log is being taken in",
    State.DONE: "the run has ended and its log is stored",
    State.FAILED: "the run did not come to its end",
    State.REFUSED: "nothing was written to the drive",
    State.LOST: "the register no longer knows what became of it",
    State.CANCELLED: "it was stopped as asked",
}
# What a queued dispatch waits for.
WAITS = {
    Dispatch.WaitsFor.DRIVE: "it waits for the drive",
    Dispatch.WaitsFor.HOST: "it waits for the host",
    Dispatch.WaitsFor.CAMPAIGN: "it waits for its campaign",
}
STARTING = "its program was started, and makes sure of the drive before it writes"
# What a silence means for one that may be on its host.
SILENT = {
    State.PREPARING: "the same start is asked for again",
    State.RUNNING: "its program may run on",
    State.COLLECTING: "its log is taken in once there is an answer",
}
BAD_ENDS = frozenset({State.FAILED, State.REFUSED, State.LOST})


def describe(dispatch: Dispatch) -> dict[str, Any]:
    """Return the context of the page and of its live part."""
    state = State(dispatch.state)
    is_orphaned = state is State.LOST and dispatch.ended_at is None
    is_ending = is_orphaned and dispatch.cancel_requested_at is not None
    too_large, is_fetching = too_large_event(dispatch), state in FINAL and is_fetch_pending(dispatch)
    ((_, found, is_fail),) = found_by([dispatch])
    return {
        "version": version_of_dispatch(dispatch),
        "dispatch": dispatch,
        "title": title_of(dispatch),
        "asked_reads_per_s": None if dispatch.nx_load is None else dispatch.nx_load * READS_PER_S,
        "cancel_took_s": _cancel_took_s(dispatch),
        "found": found,
        "is_fail": is_fail,
        "may_retry": may_be_retried(dispatch) and not out_of_service(dispatch.device),
        "retry": getattr(dispatch, "retry", None),
        "meaning": _meaning(dispatch, state),
        "is_final": state in FINAL,
        "shows_progress": state not in FINAL or dispatch.last_label_s > 0,
        "is_settled": state in FINAL and not is_ending and not is_fetching and not _is_being_read(dispatch),
        "is_bad_end": state in BAD_ENDS,
        "is_orphaned": is_orphaned,
        "is_ending": is_ending,
        "is_freed": state is State.LOST and not is_orphaned,
        "declared_by": _declared_by(dispatch),
        "may_cancel": (state not in FINAL or is_orphaned) and dispatch.cancel_requested_at is None,
        "may_certify": dispatch.device.may_certify,
        "shares": _shares_with_limits(dispatch.progress.get("shares", [])),
        "options": _worded(dispatch),
        "gaps_s": format_seconds(dispatch.outages_ms),
        "kept": archive_event(dispatch),
        "may_fetch": may_be_fetched(dispatch),
        "fetch": _fetch_words(dispatch),
        "too_large": too_large,
        "run_dirs": _run_dirs(dispatch) if too_large else [],
        "steps": list(dispatch.steps.all()),
        "stage_ends": list(dispatch.stage_ends.all()),
        "states": list(dispatch.drive_states.select_related("dispatch")),
        "runs": list(_runs(dispatch)),
    }


def _fetch_words(dispatch: Dispatch) -> str:
    """Say of what a person asked to be fetched what it waits for, or that there was nothing; empty once it is kept."""
    told = last_fetch_event(dispatch) if dispatch.state in FINAL else None
    if told is None or archive_event(dispatch) is not None:
        return ""
    if told.kind != FETCH_REQUESTED:
        return f"Its host held no file of it on {moment(told.at)}."
    if not is_fetch_pending(dispatch):
        return ""
    asked = f"{told.actor} asked on {moment(told.at)} that what it left be fetched."
    if unfit := no_work_message(dispatch.device.host):
        return f"{asked} It waits for {dispatch.device.host}, which is not asked for files now: {unfit}."
    return f"{asked} It is, once nothing is measured on its host."


def _run_dirs(dispatch: Dispatch) -> list[tuple[Host, str]]:
    """Return where the dispatch may have left anything: each directory with its host."""
    return [(host, f"{_state_dir(host)}/{run}") for host, run in run_dirs_of(dispatch, begun_stages(dispatch))]


def _state_dir(host: Host) -> str:
    """Return where a host keeps run directories, as it told last."""
    return str(settings.LAB_DIR if host.kind == Host.Kind.LOCAL else host.health.get("state_dir", STATE_DIR))


def _meaning(dispatch: Dispatch, state: State) -> str:
    """Return what the state means now: of a silent host nobody knows what it does."""
    if state in SILENT and (silence := outage_message(dispatch)):
        return f"{silence}; {SILENT[state]}"
    if dispatch.is_starting:
        return STARTING
    if state is State.QUEUED:
        return WAITS[Dispatch.WaitsFor(dispatch.waits_for)] if dispatch.waits_for else MEANINGS[state]
    if state is State.CANCELLED and (dispatch.is_never_started or begun_at(dispatch) is None):
        return "it was never started"
    return MEANINGS[state]


def version_of_dispatch(dispatch: Dispatch) -> str:
    """Return the version of its live part: whatever that shows is in here, or comes with what is.

    A look that keeps a state of the drive ends in a step or in another reason.
    """
    shown = (
        "state",
        "reason",
        "waits_for",
        "cancel_requested_at",
        "silent_since",
        "open_outages",
        "outages_count",
        "ended_at",
        "last_label_s",
        "log_bytes",
        "progress",
        "generation",
        "stage",
        "exit_status",
    )
    retry = getattr(dispatch, "retry", None)
    below = [_is_being_read(dispatch), [run.public_id for run in _runs(dispatch)], retry and retry.public_id]
    below += [outage_s(dispatch), dispatch.steps.count(), _fetch_words(dispatch)]
    return version_of([[getattr(dispatch, name) for name in shown], dispatch.submission_id, dispatch.pid, below])


def title_of(dispatch: Dispatch) -> str:
    """Return what a dispatch is, for people: load test at 30x; ACT storage, 30x; prep."""
    if dispatch.purpose:
        return step_name(Purpose(dispatch.purpose), dispatch.nx_load).capitalize()
    return RECIPES[dispatch.recipe].LABEL


def _cancel_took_s(dispatch: Dispatch) -> int | None:
    """Return how long the host took to confirm a cancel; None where it has not, or none was asked for."""
    if dispatch.state != State.CANCELLED or dispatch.ended_at is None or dispatch.cancel_requested_at is None:
        return None
    return max(0, round((dispatch.ended_at - dispatch.cancel_requested_at).total_seconds()))


def _shares_with_limits(shares: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put beside each share the limit of the newest profile: a share never stands without its limit."""
    profile = Profile.objects.filter(name="operational-database").order_by("-rule_version").first()
    limits = parse_limits(profile.document) if profile and shares else ()
    by_threshold = {limit.threshold_us: limit.limit_pct for limit in limits}
    return [share | {"limit_pct": by_threshold.get(share["threshold_us"])} for share in shares]


def _worded(dispatch: Dispatch) -> list[tuple[str, Any]]:
    """Return what was ordered in the words of the order's form."""
    options = dispatch.options
    fields = YcsbForm.base_fields if dispatch.recipe == "ycsb" else OrderForm.base_fields
    labels = {name: str(field.label or name.replace("_", " ").capitalize()) for name, field in fields.items()}
    labels[CONSENT_OPTION] = "Recognised data is written over"
    return [(labels[name], _word(value)) for name, value in options.items() if name in labels]


def _word(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(str(each) for each in value) if isinstance(value, list) else value


def _declared_by(dispatch: Dispatch) -> str:
    """Return the person who said that nothing of a lost dispatch runs; empty where its host did."""
    step = dispatch.steps.filter(kind=Step.Kind.DECLARED_ENDED).last()
    return step.actor if step else ""


def _is_being_read(dispatch: Dispatch) -> bool:
    """Tell whether the log was handed in and its run is not there yet."""
    return dispatch.submission is not None and dispatch.submission.log.readings.unfinished().exists()


def _runs(dispatch: Dispatch) -> list[Run]:
    return list(dispatch.submission.runs.order_by("ordinal")) if dispatch.submission else []
