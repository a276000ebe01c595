"""Contents of a dispatch's page. They come from the register's own tables; a page never contacts a host."""

from typing import Any

from django.conf import settings

from results.models import Run
from results.rules.act.loads import READS_PER_S
from runners.campaigns.messages import step_name
from runners.campaigns.terms import Purpose
from runners.dispatch.orders import may_be_retried
from runners.evidence.submit import begun_at
from runners.inventory.enrolment import STATE_DIR
from runners.inventory.health import no_work_message
from runners.inventory.service_state import out_of_service
from runners.lifecycle.stages import begun_stages, run_dirs_of
from runners.models import Dispatch, Host, Step
from runners.models.dispatch import CONSENT_OPTION
from runners.models.states import FINAL, State
from runners.recipes import RECIPES
from runners.recipes.act import ACT_RECIPES
from runners.retention import leftover_archive
from webapp.lab.dispatches.charts import live_charts
from webapp.lab.dispatches.forms import OrderForm, YcsbForm
from webapp.lab.shared.outages import (
    HistoryLine,
    current_outage_message,
    current_outages,
    outage_lines,
    outage_total_message,
)
from webapp.lab.shared.run_results import with_results
from webapp.lab.shared.views import version_of
from webapp.register.limits.profile import current_limits, limits_by_threshold
from webapp.templatetags.units import moment

# The meaning of each state, for the reader of the page.
STATE_MEANINGS = {
    State.QUEUED: "the run waits for a worker",
    State.CLAIMED: "the drive is reserved, and the host identifies the drive",
    State.PREPARING: "the host starts the program",
    State.RUNNING: "the program runs on the host",
    State.COLLECTING: "the program has ended, and the register stores the log",
    State.DONE: "the run has ended and its log is stored",
    State.FAILED: "the run did not complete",
    State.REFUSED: "the run was refused, and nothing was written to the drive",
    State.LOST: "the register does not know whether the program still runs",
    State.CANCELLED: "the run was stopped on request",
}
# The reasons why a queued dispatch waits.
WAITS = {
    Dispatch.WaitsFor.DRIVE: "the run waits for the drive",
    Dispatch.WaitsFor.HOST: "the run waits for the host",
    Dispatch.WaitsFor.CAMPAIGN: "the run waits for its campaign",
    Dispatch.WaitsFor.WINDOW: "the run waits for the end of maintenance",
}
STARTING_MEANING = "the program was started and checks the drive before it writes"
# The meaning of an outage for a dispatch that may be on its host.
NO_ANSWER_MEANINGS = {
    State.PREPARING: "the register will repeat the start, which starts no second program",
    State.RUNNING: "the program may still run",
    State.COLLECTING: "the log will be stored when the host answers",
}
POLLED = frozenset({"heartbeat_at", "next_poll_at"})  # every poll writes them; the live part does not show them
BAD_ENDS = frozenset({State.FAILED, State.REFUSED, State.LOST})


def dispatch_context(dispatch: Dispatch) -> dict[str, Any]:
    """Return the context of the page and of its live part."""
    state = State(dispatch.state)
    is_orphaned = state is State.LOST and dispatch.ended_at is None
    is_ending = is_orphaned and dispatch.cancel_requested_at is not None
    too_large = leftover_archive.too_large_event(dispatch)
    is_archiving = state in FINAL and leftover_archive.is_fetch_pending(dispatch)
    ((_, result, is_fail),) = with_results([dispatch])
    requested_reads_per_s = None if dispatch.nx_load is None else dispatch.nx_load * READS_PER_S
    shares = shares_with_limits(dispatch.progress.get("shares", []))
    return {
        "version": version_of_dispatch(dispatch),
        "dispatch": dispatch,
        "title": title_of(dispatch),
        "requested_reads_per_s": requested_reads_per_s,
        "cancel_took_s": _cancel_took_s(dispatch),
        "result": result,
        "is_fail": is_fail,
        "may_retry": may_be_retried(dispatch) and not out_of_service(dispatch.device),
        "retry": getattr(dispatch, "retry", None),
        "meaning": _meaning(dispatch, state),
        "is_final": state in FINAL,
        "is_settled": state in FINAL and not is_ending and not is_archiving and not _is_being_read(dispatch),
        "is_bad_end": state in BAD_ENDS,
        "is_orphaned": is_orphaned,
        "is_ending": is_ending,
        "is_freed": state is State.LOST and not is_orphaned,
        "declared_by": _declared_by(dispatch),
        "may_cancel": (state not in FINAL or is_orphaned) and dispatch.cancel_requested_at is None,
        "may_rerun": state is State.DONE and dispatch.recipe in ACT_RECIPES,
        "shares": shares,
        "charts": live_charts(dispatch, shares, requested_reads_per_s),
        "options": _option_rows(dispatch),
        "outage_total": outage_total_message(dispatch),
        "archived": leftover_archive.archive_event(dispatch),
        "may_archive": leftover_archive.may_be_fetched(dispatch),
        "archive_message": _archive_message(dispatch),
        "too_large": too_large,
        "run_dirs": _run_dirs(dispatch) if too_large else [],
        "history": history_of(dispatch),
        "stage_ends": list(dispatch.stage_ends.all()),
        "states": list(dispatch.drive_states.select_related("dispatch")),
        "runs": list(_runs(dispatch)),
    }


def _archive_message(dispatch: Dispatch) -> str:
    """Return the status of a request to archive leftover files; empty if there is none or the files are archived."""
    entry = leftover_archive.last_fetch_event(dispatch) if dispatch.state in FINAL else None
    if entry is None or leftover_archive.archive_event(dispatch) is not None:
        return ""
    if entry.kind != leftover_archive.FETCH_REQUESTED:
        return f"On {moment(entry.at)} the host had no leftover files of this run."
    if not leftover_archive.is_fetch_pending(dispatch):
        return ""
    request = f"{entry.actor} requested on {moment(entry.at)} that the leftover files are archived."
    if unfit := no_work_message(dispatch.device.host):
        return f"{request} Host {dispatch.device.host} is not available for archiving now: {unfit}."
    return f"{request} The register archives these files when no run is measured on the host."


def _run_dirs(dispatch: Dispatch) -> list[tuple[Host, str]]:
    """Return the run directories that may hold leftover files, each with its host."""
    return [
        (host, f"{host.health.get('state_dir', STATE_DIR) if host.is_remote else settings.LAB_DIR}/{run}")
        for host, run in run_dirs_of(dispatch, begun_stages(dispatch))
    ]


def _meaning(dispatch: Dispatch, state: State) -> str:
    """Return the meaning of the current state; during an outage the state of the program is unknown."""
    if state in NO_ANSWER_MEANINGS and (outage := current_outage_message(dispatch)):
        return f"{outage}; {NO_ANSWER_MEANINGS[state]}"
    if dispatch.is_starting:
        return STARTING_MEANING
    if state is State.QUEUED:
        return WAITS[Dispatch.WaitsFor(dispatch.waits_for)] if dispatch.waits_for else STATE_MEANINGS[state]
    if state is State.CANCELLED and (dispatch.is_never_started or begun_at(dispatch) is None):
        return "no program was started"
    return STATE_MEANINGS[state]


def version_of_dispatch(dispatch: Dispatch) -> str:
    """Return the version of the live part. It changes with everything that the part shows.

    A poll that records a drive state also records a step or another reason, so drive states are not included.
    """
    columns = [getattr(dispatch, field.attname) for field in Dispatch._meta.concrete_fields if field.name not in POLLED]
    retry = getattr(dispatch, "retry", None)
    related = [_is_being_read(dispatch), [run.public_id for run in _runs(dispatch)], retry and retry.public_id]
    related += [current_outages(dispatch), outage_total_message(dispatch)]
    related += [dispatch.steps.count(), _archive_message(dispatch)]
    return version_of([columns, related])


def history_of(dispatch: Dispatch) -> list[HistoryLine]:
    """Return the steps and the outages in the order of time. Release 0.2 stored outages as steps too."""
    steps = dispatch.steps.exclude(kind__in=[Step.Kind.HOST_OUTAGE, Step.Kind.OUTAGE_TOTAL])
    lines = [HistoryLine(step.at, _step_label(step), None, step.reason, step.actor) for step in steps]
    return sorted([*outage_lines(dispatch), *lines], key=lambda line: line.at)


def _step_label(step: Step) -> str:
    return "outage" if step.kind == Step.Kind.REGISTER_OUTAGE else step.to_state


def title_of(dispatch: Dispatch) -> str:
    """Return a title such as "Load test at 30x", "ACT storage" or "prep"."""
    if dispatch.purpose:
        return step_name(Purpose(dispatch.purpose), dispatch.nx_load).capitalize()
    return RECIPES[dispatch.recipe].LABEL


def _cancel_took_s(dispatch: Dispatch) -> int | None:
    """Return how long the host took to confirm a cancellation; None if it has not confirmed one."""
    if dispatch.state != State.CANCELLED or dispatch.ended_at is None or dispatch.cancel_requested_at is None:
        return None
    return max(0, round((dispatch.ended_at - dispatch.cancel_requested_at).total_seconds()))


def shares_with_limits(shares: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add the limit of the newest profile to each share: pages never show a share without its limit."""
    by_threshold = limits_by_threshold(current_limits()) if shares else {}
    return [share | {"limit_pct": by_threshold.get(share["threshold_us"])} for share in shares]


def _option_rows(dispatch: Dispatch) -> list[tuple[str, Any]]:
    """Return the options of the order with the labels of the order form."""
    options = dispatch.options
    fields = YcsbForm.base_fields if dispatch.recipe == "ycsb" else OrderForm.base_fields
    labels = {name: str(field.label or name.replace("_", " ").capitalize()) for name, field in fields.items()}
    labels[CONSENT_OPTION] = "Overwrites recognised data"
    return [(labels[name], value_label(value)) for name, value in options.items() if name in labels]


def value_label(value: Any) -> Any:
    """Return an option or a term as a page shows it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(str(each) for each in value) if isinstance(value, list) else value


def _declared_by(dispatch: Dispatch) -> str:
    """Return the person who confirmed the end of a lost dispatch; empty if its host did."""
    step = dispatch.steps.filter(kind=Step.Kind.DECLARED_ENDED).last()
    return step.actor if step else ""


def _is_being_read(dispatch: Dispatch) -> bool:
    """Return whether the log was submitted but not yet read."""
    return dispatch.submission is not None and dispatch.submission.log.readings.unfinished().exists()


def _runs(dispatch: Dispatch) -> list[Run]:
    return list(dispatch.submission.runs.order_by("ordinal")) if dispatch.submission else []
