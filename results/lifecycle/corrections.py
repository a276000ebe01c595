"""Corrections of what a sender stated about a drive: each an event with the value before and after, and reversible.

What was read from a log is not corrected by hand: a new reading judges it anew (results/reevaluation/recompute.py).
"""

from decimal import Decimal
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from results.certification.certificates import refresh_certificates
from results.errors import ReviewRefusedError
from results.history import record_event, run_subject
from results.lifecycle.visibility import refuse_own
from results.models import Event, Run

CORRECTED, TAKEN_BACK = "run-corrected", "correction-taken-back"
CORRECTABLE = ("firmware", "over_provisioning_pct", "over_provisioned_to_gb", "region", "zone", "notes")
Values = dict[str, Any]


def correct(run: Run, stated: Values, actor: AbstractBaseUser, reason: str) -> Event:
    """Write the values that differ from what stands, and return the event that tells both.

    Raises ReviewRefusedError for a field that is read from the log, where nothing differs, without a reason, and for a
    run of the actor's own.
    """
    refuse_own(run, actor, "correct")
    unknown = sorted(set(stated) - set(CORRECTABLE))
    if unknown:
        raise ReviewRefusedError(f"Not corrected by hand: {', '.join(unknown)}; only {', '.join(CORRECTABLE)} are.")
    return _write(run, stated, actor, (CORRECTED, reason))


def take_back(event: Event, actor: AbstractBaseUser, reason: str) -> Event:
    """Give a correction's fields the values from before it, where nothing has corrected them since."""
    run = Run.objects.filter(public_id=event.subject_id).first()
    if event.kind != CORRECTED or run is None:
        raise ReviewRefusedError("Only a correction of a run is taken back.")
    refuse_own(run, actor, "take back a correction of")
    changes: dict[str, list[str | int | None]] = event.details["changes"]
    with transaction.atomic():
        held = Run.objects.select_for_update().get(pk=run.pk)
        later = sorted(name for name, (_, after) in changes.items() if told(getattr(held, name)) != after)
        if later:
            raise ReviewRefusedError(f"{run.public_id}: {', '.join(later)} was changed since; correct it instead.")
        before = {name: _value(name, before) for name, (before, _) in changes.items()}
        return _write(held, before, actor, (TAKEN_BACK, reason))


def _write(run: Run, stated: Values, actor: AbstractBaseUser, kind_and_reason: tuple[str, str]) -> Event:
    kind, reason = kind_and_reason
    if not reason.strip():
        raise ReviewRefusedError("A reason is needed: it stands in the history beside the two values.")
    with transaction.atomic():
        held = Run.objects.select_for_update().get(pk=run.pk)
        changes = {name: value for name, value in stated.items() if told(getattr(held, name)) != told(value)}
        if not changes:
            raise ReviewRefusedError(f"{run.public_id} says so already; nothing was changed.")
        details = {"changes": {name: [told(getattr(held, name)), told(value)] for name, value in changes.items()}}
        Run.objects.filter(pk=held.pk).update(**changes)
        event = record_event(actor, kind, run_subject(held), reason, details)
        refresh_certificates([held.product_id])
    return event


def told(value: Any) -> str | int | None:
    """Return a value as an event's JSON holds it: decimals as text without trailing zeros."""
    if isinstance(value, Decimal):
        text = f"{value:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return value if value is None or isinstance(value, int) else str(value)


def _value(name: str, before: str | int | None) -> Any:
    return Decimal(before) if name == "over_provisioning_pct" and before is not None else before
