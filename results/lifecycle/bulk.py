"""One decision about many runs: chosen by what they share, told first, then made run by run with one reason.

Each run has its own transaction and its own event: what is done is done, and a run that changed meanwhile is told and
left as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Exists, OuterRef

from results.errors import ReviewRefusedError
from results.lifecycle import visibility
from results.lifecycle.annotations import annotate, retract
from results.models import Annotation, Finding, Run

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser

    from results.models.querysets import RunQuerySet

Decision = Callable[[Run, "AbstractBaseUser", str], object]


@dataclass(frozen=True)
class Choice:
    """What the runs have in common; what is empty is not asked. All that is asked must hold."""

    organisation: str = ""
    tool_version: str = ""
    firmware: str = ""
    finding: str = ""
    reader_version: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked, which would choose every run of the register."""
        return not any(vars(self).values())

    def runs(self) -> RunQuerySet:
        """Return the public runs chosen, superseded and withdrawn ones included."""
        columns = {
            "submission__organisation__slug": self.organisation,
            "tool_version": self.tool_version,
            "firmware": self.firmware,
            "reading__reader_version": self.reader_version,
        }
        runs = Run.objects.public().filter(**{name: value for name, value in columns.items() if value})
        if self.finding:
            runs = runs.filter(Exists(Finding.objects.filter(run=OuterRef("pk"), rule_id=self.finding)))
        return runs.order_by("pk")


@dataclass
class Outcome:
    """What was or would be done: public ids, and for those refused the sentence."""

    done: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


def _retract(run: Run, actor: AbstractBaseUser, text: str) -> None:
    annotation = Annotation.objects.standing().filter(run=run, text=text.strip()).first()
    if annotation is None:
        raise ReviewRefusedError(f"{run.public_id} carries no such annotation.")
    retract(annotation, actor, "retracted in bulk")


# `annotate` and `retract` take the annotation's own words in the place of a reason.
DECISIONS: dict[str, Decision] = {
    "annotate": lambda run, actor, text: annotate(run, text, actor),
    "retract": _retract,
    "withdraw": visibility.withdraw,
    "reinstate": visibility.reinstate,
}


def decide(runs: RunQuerySet, decision: str, actor: AbstractBaseUser, reason: str, *, is_dry: bool) -> Outcome:
    """Make a decision about each run, or in a dry run make it and take it back."""
    outcome = Outcome()
    for run in runs.select_related("submission"):
        try:
            with transaction.atomic():
                DECISIONS[decision](run, actor, reason)
                transaction.set_rollback(is_dry)
        except ReviewRefusedError as refusal:
            outcome.refused[run.public_id] = str(refusal)
        else:
            outcome.done.append(run.public_id)
    return outcome
