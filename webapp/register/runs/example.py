"""Example runs of the register: their address for links, and their load ladder.

A product's page shows the ladder of its runs. An example run has no product, so its own page shows that of all example
runs.
"""

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

from django.urls import reverse

from results.certification.certificates import with_candidate_rows
from results.demonstration.examples import MAIN
from results.models import Run
from results.rules.act.limits import Limit
from results.rules.host_causes import HOST_CAUSES
from webapp.register.limits.virtual_devices import DEMO_LABEL
from webapp.register.runs.verdict import figure_of
from webapp.register.tables.columns import share_of
from webapp.templatetags import units


def example_address() -> str:
    """Return the address of the example run that other pages link to; empty while the register shows none."""
    is_shown = Run.objects.examples().filter(public_id=MAIN.run_id).exists()
    return reverse("run-detail", args=[MAIN.run_id]) if is_shown else ""


def example_log_address() -> str:
    """Return the address of the log of the same run; empty while the register shows none."""
    return reverse("run-log", args=[MAIN.run_id]) if example_address() else ""


def example_view(run: Run, limits: Sequence[Limit]) -> dict[str, Any] | None:
    """Return the label and the ladder of the example runs; None for any other run."""
    if not run.is_demo:
        return None
    runs = list(with_candidate_rows(Run.objects.examples()).prefetch_related("shares"))
    rungs = [_rung(each, limits, is_this=each.pk == run.pk) for each in runs]
    return {
        "label": DEMO_LABEL,
        "rungs": rungs,
        "reversed_sentence": reversed_sentence(rungs),
    }


def reversed_sentence(rungs: Sequence[Mapping[str, Any]]) -> str:
    """Return that a lower load has a larger share of slow reads than a higher one; empty if none has.

    Of several pairs, it names the one whose shares differ most. The load is not the cause of such a difference.
    """
    pairs = [
        (low, high, *shares)
        for low, high in permutations((each for each in rungs if each["run"].nx_load is not None), 2)
        if low["run"].nx_load < high["run"].nx_load
        for shares in zip(low["figures"], high["figures"], strict=True)
        if all(shares) and shares[0]["share"].share_pct > shares[1]["share"].share_pct
    ]
    if not pairs:
        return ""
    low, high, more, less = max(pairs, key=lambda pair: pair[2]["share"].share_pct - pair[3]["share"].share_pct)
    loads = (units.nx(each["run"].nx_load) for each in (low, high))
    has_host_finding = any(each.rule_id in HOST_CAUSES for each in low["run"].findings.all())
    host = " The findings of its run name the host as a possible cause." if has_host_finding else ""
    threshold = units.threshold(more["share"].threshold_us)
    return (
        f"At {next(loads)}, the share over {threshold} is {more['text']}{units.NBSP}%,"
        f" larger than {less['text']}{units.NBSP}% at {next(loads)}. Something other than the load slowed these "
        f"reads.{host}"
    )


def _rung(run: Run, limits: Sequence[Limit], *, is_this: bool) -> dict[str, Any]:
    shares = [share_of(run, limit.threshold_us) for limit in limits]
    return {
        "run": run,
        "is_this": is_this,
        "figures": [figure_of(share, limits) if share else None for share in shares],
        "verdict": run.verdicts.all()[0].get_outcome_display(),
    }
