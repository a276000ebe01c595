"""Lifecycle of a run on its page: supersession, annotations, history, earlier verdicts and certificates."""

from results.access.public_history import for_everyone, is_by_reviewer
from results.access.withholding import visible_events, visible_verdict
from results.history import displaced_by, event_label, history_of
from results.models import Certificate, Event, Run
from webapp.register.http.access import is_public
from webapp.register.runs.verdict import reason_text
from webapp.templatetags import units

SHOWN_EARLIER = 100


HistoryLine = dict[str, str]  # one event: at, what, by (the role of the actor: names are not public), reason, details


def life_of(run: Run) -> dict[str, object]:
    """Return the lifecycle context of a run page. For a run that is not public it includes internal events."""
    history = history_of(run).filter(subject_type="run")
    events = visible_events(for_everyone(history) if is_public(run) else history)
    verdicts = run.verdicts.select_related("profile", "earlier_result")[1 : SHOWN_EARLIER + 1]  # without the newest
    earlier = [visible_verdict(run, verdict) for verdict in verdicts]
    return {
        "supersession": next((event for event in reversed(events) if event.kind == "run-superseded"), None),
        "supersedes": list(displaced_by(run)),
        "annotations": list(run.annotations.current()),
        "history": [public_line(event) for event in events],
        "earlier_verdicts": [(verdict, reason_text(verdict)) for verdict in earlier],
        "certificates": list(Certificate.objects.filter(runs=run)),
    }


def line_of(event: Event) -> HistoryLine:
    """Return a line of an event with the role of the actor: a reviewer, or the register itself."""
    by = "a reviewer" if event.actor_id else "the register"
    line = {"at": units.moment(event.at), "what": event_label(event.kind), "by": by}
    return line | {"reason": event.reason, "details": _details(event)}


def public_line(event: Event) -> HistoryLine:
    """Return a line of an event for the public history."""
    return line_of(event) | {"by": "a reviewer"} if is_by_reviewer(event) else line_of(event)


def _details(event: Event) -> str:
    """Return the values that an event changed, as text."""
    details = event.details
    if event.kind in {"run-corrected", "correction-taken-back"}:
        changes = details["changes"].items()
        changed = [f"{name}: {_value_text(before)} -> {_value_text(after)}" for name, (before, after) in changes]
        return "; ".join(changed)
    if event.kind == "run-judged-anew":
        return f"{details['before']} -> {details['after']}" if details["after"] else ""
    return f"run {details['successor']}" if "successor" in details else ""


def _value_text(value: object) -> object:
    return "not reported" if value in {None, ""} else value
