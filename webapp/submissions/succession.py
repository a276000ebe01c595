"""The run that replaces another one: what a reviewer has to accept, sentence by sentence, before it does."""

from collections.abc import Callable
from typing import Any

from django import forms

from results.errors import ReviewRefusedError
from results.models import Run, Verdict
from webapp.submissions.forms import SupersedeForm
from webapp.templatetags import units

NOT_REPORTED = "not reported"
# The later outcome is the stronger statement about the drive.
BY_STRENGTH = (Verdict.Outcome.VOID, Verdict.Outcome.FAIL, Verdict.Outcome.UNDECIDED, Verdict.Outcome.PASS)
OUTCOME_WORDS: dict[str, str] = {
    Verdict.Outcome.PASS: "passes",
    Verdict.Outcome.FAIL: "fails",
    Verdict.Outcome.UNDECIDED: "is undecided",
    Verdict.Outcome.VOID: "is void",
}
EQUAL_FACTS = ("workload", "statistic", "firmware", "compress_pct", "over_provisioning_pct")
LABELS = {"compress_pct": "compression, %", "over_provisioning_pct": "over-provisioning, %"}


class SuccessorForm(forms.Form):
    """The first step: the run that would replace this one, before the comparison is shown."""

    successor = SupersedeForm.base_fields["successor"]


def succession_part(run: Run, named: str) -> dict[str, Any]:
    """Return the first step of a succession, or the second one if a run was named in the address."""
    if not named:
        return {"successor_form": SuccessorForm()}
    try:
        successor = find_successor(named)
    except ReviewRefusedError as refusal:
        return {"successor_form": SuccessorForm(initial={"successor": named}), "successor_problem": str(refusal)}
    return {"successor": successor, "succession_warnings": succession_warnings(run, successor)}


def find_successor(public_id: str) -> Run:
    """Return the run with an id that a reviewer typed. Raises ReviewRefusedError."""
    found = Run.objects.not_sequestered().filter(public_id=public_id.strip()).first()
    if found is None:
        raise ReviewRefusedError(f"No run is named {public_id[:40]}.")
    return found


def succession_warnings(run: Run, successor: Run) -> list[str]:
    """Return why the successor may say less than the run, or something else; empty if it is at least as good."""
    return [*_weaker(run, successor), *_weaker_verdict(run, successor), *_different(run, successor)]


def _weaker(run: Run, successor: Run) -> list[str]:
    """Return the figures in which the successor measured less than the run."""
    figures: tuple[tuple[str, Any, Any, Callable[[Any], str]], ...] = (
        ("ran for", successor.duration_s, run.duration_s, units.duration),
        ("loaded", successor.device_count, run.device_count, lambda number: units.counted(number, "device")),
        ("loaded one device with", successor.tps, run.tps, lambda tps: units.with_unit(units.rate(tps), "tps")),
    )
    return [
        f"{successor.public_id} {what} {NOT_REPORTED if after is None else show(after)}; "
        f"{run.public_id} {what} {show(before)}."
        for what, after, before, show in figures
        if before is not None and (after is None or after < before)
    ]


def _weaker_verdict(run: Run, successor: Run) -> list[str]:
    before, after = run.verdicts.first(), successor.verdicts.first()
    if before is None or (after is not None and _strength(after) >= _strength(before)):
        return []
    words = OUTCOME_WORDS[after.outcome] if after else "has no verdict"
    return [f"{successor.public_id} {words}; {run.public_id} {OUTCOME_WORDS[before.outcome]}."]


def _strength(verdict: Verdict) -> int:
    return BY_STRENGTH.index(Verdict.Outcome(verdict.outcome))


def _different(run: Run, successor: Run) -> list[str]:
    """Return the conditions that the two runs do not share."""
    names = [name for name in EQUAL_FACTS if getattr(run, name) != getattr(successor, name)]
    lengths = (run.slice_length_s, successor.slice_length_s)
    sentences = [_condition(LABELS.get(name, name), getattr(run, name), getattr(successor, name)) for name in names]
    if lengths[0] != lengths[1]:
        sentences.append(_condition("slice length", *map(units.duration, lengths)))
    return sentences


def _condition(label: str, before: object, after: object) -> str:
    old, new = (NOT_REPORTED if value in {None, ""} else value for value in (before, after))
    return f"The {label} differs: {new} instead of {old}."
