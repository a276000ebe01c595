"""Example runs of the register: their address for links, their load ladder, and the requirements of a certificate.

A product's page shows the ladder and the requirements of its runs. An example run has no product, so its own page shows
them for all example runs together.
"""

from collections.abc import Sequence
from typing import Any

from django.urls import reverse

from results.access.withholding import attempt_sentences
from results.certification.certificates import attempts_of_runs, with_candidate_rows
from results.demonstration.examples import MAIN
from results.models import Run
from results.rules.act.limits import Limit
from webapp.register.limits.virtual_devices import DEMO_LABEL
from webapp.register.runs.verdict import figure_of
from webapp.register.tables.columns import share_of


def example_address() -> str:
    """Return the address of the example run that other pages link to; empty while the register shows none."""
    is_shown = Run.objects.examples().filter(public_id=MAIN.run_id).exists()
    return reverse("run-detail", args=[MAIN.run_id]) if is_shown else ""


def example_log_address() -> str:
    """Return the address of the log of the same run; empty while the register shows none."""
    return reverse("run-log", args=[MAIN.run_id]) if example_address() else ""


def example_view(run: Run, limits: Sequence[Limit]) -> dict[str, Any] | None:
    """Return the label, the ladder and the certificate requirements of the example runs; None for any other run."""
    if not run.is_demo:
        return None
    runs = list(with_candidate_rows(Run.objects.examples()).prefetch_related("shares"))
    return {
        "label": DEMO_LABEL,
        "rungs": [_rung(each, limits, is_this=each.pk == run.pk) for each in runs],
        "attempts": [
            {"profile": attempt["profile"], **attempt_sentences(attempt)} for attempt in attempts_of_runs(runs)
        ],
    }


def _rung(run: Run, limits: Sequence[Limit], *, is_this: bool) -> dict[str, Any]:
    shares = [share_of(run, limit.threshold_us) for limit in limits]
    return {
        "run": run,
        "is_this": is_this,
        "figures": [figure_of(share, limits) if share else None for share in shares],
        "verdict": run.verdicts.all()[0].get_outcome_display(),
    }
