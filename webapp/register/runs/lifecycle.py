"""What became of a run since it was published: marks, annotations, history, earlier verdicts, certificates."""

from dataclasses import dataclass, replace

from results.access.history import for_everyone, is_by_reviewer
from results.access.redaction import visible_events, visible_verdict
from results.history import displaced_by, history_of
from results.lifecycle.event_labels import event_label
from results.models import Certificate, Event, Run, Verdict, Visibility
from webapp.register.http.access import is_public
from webapp.register.runs.verdict import OUTCOME_WORDS, plain_sentence
from webapp.templatetags import units

SHOWN_EARLIER = 100


@dataclass(frozen=True)
class HistoryLine:
    """One event: when, what, who by role (people of the register are not named in public), and why."""

    at: str
    what: str
    by: str
    reason: str
    details: str


@dataclass(frozen=True)
class EarlierVerdict:
    """A verdict that a newer one took the place of; `number` names the figures kept with it, where they differed."""

    word: str
    headline: str
    reader_version: str
    profile: str
    at: str
    number: int | None


@dataclass(frozen=True)
class Supersession:
    """By which run a run was superseded, when and why."""

    successor: Run
    at: str
    reason: str


def life_of(run: Run) -> dict[str, object]:
    """Return what the run's page shows of its life: of a run that is not public all, to those who may see it."""
    history = history_of(run).filter(subject_type="run")
    events = visible_events(for_everyone(history) if is_public(run) else history)
    return {
        "supersession": _supersession(run, events),
        "supersedes": list(displaced_by(run)),
        "annotations": list(run.annotations.standing()),
        "history": [told_line(event) for event in events],
        "earlier_verdicts": earlier_verdicts(run),
        "certificates": list(Certificate.objects.filter(runs=run)),
    }


def line_of(event: Event) -> HistoryLine:
    """Return an event as it was: by a person, or by the register itself."""
    by = "a reviewer" if event.actor_id else "the register"
    return HistoryLine(units.moment(event.at), event_label(event.kind), by, event.reason, _details(event))


def told_line(event: Event) -> HistoryLine:
    """Return an event as everyone reads it, in its subject's history."""
    return replace(line_of(event), by="a reviewer") if is_by_reviewer(event) else line_of(event)


def _details(event: Event) -> str:
    """Say which values an event changed; the rest is in its reason."""
    details = event.details
    if event.kind in {"run-corrected", "correction-taken-back"}:
        changed = [f"{name}: {_said(before)} -> {_said(after)}" for name, (before, after) in details["changes"].items()]
        return "; ".join(changed)
    if event.kind == "run-judged-anew":
        return f"{details['before']} -> {details['after']}" if details["after"] else ""
    return f"run {details['successor']}" if "successor" in details else ""


def _said(value: object) -> object:
    return "not stated" if value in {None, ""} else value


def _supersession(run: Run, events: list[Event]) -> Supersession | None:
    if run.visibility != Visibility.SUPERSEDED or run.superseded_by is None:
        return None
    event = next((event for event in reversed(events) if event.kind == "run-superseded"), None)
    return Supersession(run.superseded_by, units.moment(event.at) if event else "", event.reason if event else "")


def earlier_verdicts(run: Run) -> list[EarlierVerdict]:
    """Return the run's verdicts but the newest, newest first."""
    verdicts = run.verdicts.select_related("profile", "earlier_result")[1 : SHOWN_EARLIER + 1]
    return [_earlier(visible_verdict(run, verdict)) for verdict in verdicts]


def _earlier(verdict: Verdict) -> EarlierVerdict:
    kept = getattr(verdict, "earlier_result", None)
    word = OUTCOME_WORDS[Verdict.Outcome(verdict.outcome)]
    return EarlierVerdict(
        word=word,
        headline=plain_sentence(verdict.headline, verdict.document).removeprefix(word).removeprefix(": "),
        reader_version=verdict.reader_version,
        profile=str(verdict.profile),
        at=units.moment(verdict.public_since),
        number=kept.number if kept else None,
    )
