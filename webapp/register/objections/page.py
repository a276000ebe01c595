"""Objections in words: their state, the next step with its deadline, who filed them, and what followed."""

from dataclasses import dataclass

from results.lifecycle.deadlines import Party
from results.lifecycle.objection_filing import is_open_to_objections
from results.lifecycle.objections import RULES, UPHOLDING
from results.models import Event, Objection, ObjectionState, Product, Run, Visibility
from results.models.objection import ADMITTED_STATES, AFTER_ADMISSION
from webapp.templatetags import units

STATE_WORDS = {
    ObjectionState.RECEIVED: "received",
    ObjectionState.ADMISSION_OVERDUE: "admission overdue",
    ObjectionState.REFUSED: "refused",
    ObjectionState.WITHDRAWN: "withdrawn",
    ObjectionState.ADMITTED: "admitted",
    ObjectionState.UNANSWERED: "no reply in time",
    ObjectionState.IN_DECISION: "in decision",
    ObjectionState.DECISION_OVERDUE: "decision overdue",
    ObjectionState.UPHELD: "upheld",
    ObjectionState.REJECTED: "rejected",
}
STEPS = {
    ObjectionState.RECEIVED: "a reviewer admits or refuses the objection",
    ObjectionState.ADMISSION_OVERDUE: "a reviewer admits or refuses the objection",
    ObjectionState.ADMITTED: "the organisation that submitted the result replies",
    ObjectionState.UNANSWERED: "a reviewer decides, with or without a reply",
    ObjectionState.IN_DECISION: "a reviewer decides",
    ObjectionState.DECISION_OVERDUE: "a reviewer decides",
}
THEN = {
    ObjectionState.ADMISSION_OVERDUE: "the reviewers are notified again",
    ObjectionState.UNANSWERED: "a reviewer can decide without a reply",
    ObjectionState.DECISION_OVERDUE: "the reviewers are notified again",
}
ALWAYS_SHOWN = frozenset({*AFTER_ADMISSION, ObjectionState.UPHELD})  # next to the figures, and not only below them
# The event of the step that each outcome names.
STEP_KINDS = {
    Objection.Outcome.WITHDRAW: "run-withdrawn",
    Objection.Outcome.ANNOTATE: "run-annotated",
    Objection.Outcome.CORRECT: "run-corrected",
}


@dataclass(frozen=True)
class ObjectionLine:
    """One objection in a list or next to a result."""

    objection: Objection
    state: str
    next_step: str
    is_prominent: bool


def line_of(objection: Objection) -> ObjectionLine:
    """Return an objection with its state and next step in words."""
    state = ObjectionState(objection.state)
    return ObjectionLine(objection, STATE_WORDS[state], next_step(objection), state in ALWAYS_SHOWN)


def lines_of(run: Run) -> list[ObjectionLine]:
    """Return the admitted objections to a run, oldest first."""
    return [line_of(objection) for objection in run.objections.filter(state__in=ADMITTED_STATES)]


def prominent_lines_of(product: Product) -> list[ObjectionLine]:
    """Return the open and upheld objections to the results of a product, oldest first."""
    admitted = Objection.objects.admitted().filter(run__product=product, state__in=ALWAYS_SHOWN)
    return [line_of(objection) for objection in admitted.select_related("run")]


def objections_part(run: Run) -> dict[str, object]:
    """Return what the page of a run shows of objections, and whether it offers to object."""
    lines = lines_of(run)
    return {
        "objections": lines,
        "prominent_objections": [line for line in lines if line.is_prominent],
        "may_object": is_open_to_objections(run),
    }


def next_step(objection: Objection) -> str:
    """Return the next step with who acts and until when; for a decided objection, its outcome."""
    state = ObjectionState(objection.state)
    if objection.deadline is not None:
        then = THEN[ObjectionState(RULES[state].then)]
        return f"Next, {STEPS[state]}. Deadline: {units.moment(objection.deadline)}; after it, {then}."
    if state == ObjectionState.REFUSED:
        return f"Refused on {units.moment(objection.state_since)}: {objection.get_refusal_display()}."
    if state == ObjectionState.WITHDRAWN:
        return f"Withdrawn by its filer on {units.moment(objection.state_since)}."
    return outcome_sentence(objection)


def must_act(objection: Objection) -> Party | None:
    """Return who must act next; None for a final state."""
    return None if objection.is_final else RULES[ObjectionState(objection.state)].party


def outcome_sentence(objection: Objection) -> str:
    """Return the decision, its reason, and for an upheld objection whether the step that follows is done."""
    outcome = Objection.Outcome(objection.outcome)
    sentence = f"{STATE_WORDS[ObjectionState(objection.state)].capitalize()} on {units.moment(objection.decided_at)}"
    if outcome not in UPHOLDING:
        return f"{sentence}: {outcome.label}."
    event = _step_event(objection)
    done = f"This was done on {units.moment(event.at)}." if event else "This is not done yet."
    return f"{sentence}: {outcome.label}. {done}"


def _step_event(objection: Objection) -> Event | None:
    """Return the event of the step that an upheld objection names, since its admission."""
    kind = STEP_KINDS[Objection.Outcome(objection.outcome)]
    about = Event.objects.filter(subject_type="run", subject_id=objection.run.public_id, kind=kind)
    if kind == "run-withdrawn" and objection.run.visibility != Visibility.WITHDRAWN:
        return None  # it was reinstated, or is not withdrawn yet
    return about.filter(at__gte=objection.admitted_at).order_by("at", "pk").last()


def filer_words(objection: Objection) -> str:
    """Return who filed an objection, for everyone: no person is named, and no organisation without a confirmed name."""
    organisation = objection.organisation
    if objection.is_mirrored:
        return "a user of another register"
    if organisation is None:
        return "a user without an organisation"
    if organisation.confirmed_at is None:
        return "a member of an organisation whose name is not confirmed"
    return f"a member of {organisation}"
