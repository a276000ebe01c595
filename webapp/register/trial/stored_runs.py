"""Runs on the site that were read from the same log, so that a visitor can compare both readings."""

from typing import Any

from django.db.models import Q

from results.access.withholding import is_withheld
from results.models import Run
from results.reader.process import Document
from webapp.register.runs.verdict_basis import OTHER_SLICES, slices_in_words

SHOWN_RUNS = 20


def stored_runs(document: Document) -> list[dict[str, Any]]:
    """Return the public runs and the example runs of a log, each with the sentence on its verdict."""
    source = document["input"]
    hashes = {source.get("sha256"), source.get("content_sha256")} - {None}
    of_log = Q(reading__evidence__sha256__in=hashes) | Q(reading__evidence__content_sha256__in=hashes)
    on_site = Q(pk__in=Run.objects.public().values("pk")) | Q(pk__in=Run.objects.examples().values("pk"))
    runs = Run.objects.filter(of_log, on_site).select_related("reading__evidence").order_by("pk")
    lengths = {read["slice_length_s"] for read in document["runs"]}
    return [
        {"run": run, "sentence": _sentence(run, is_in_same_slices=lengths == {run.slice_length_s})}
        for run in runs[:SHOWN_RUNS]
        if not is_withheld(run)
    ]


def _sentence(run: Run, *, is_in_same_slices: bool) -> str:
    """Return how the register judged the run; empty for a run without a verdict."""
    verdict = run.verdicts.select_related("profile").first()
    if verdict is None:
        return ""
    slices = "" if run.slice_length_s is None else f", in {slices_in_words(run.slice_length_s)}"
    judged = f"Its verdict is “{verdict.get_outcome_display()}”, under profile {verdict.profile}{slices}."
    return judged if is_in_same_slices else f"{judged} {OTHER_SLICES}"
