"""Runs on the site that were read from the same log, so that a visitor can compare both readings."""

from typing import Any

from django.db.models import Prefetch, Q

from results.access.withholding import is_withheld
from results.ingest.rows import MEMBER_CHARS
from results.models import Profile, Run, Verdict
from results.reader.process import Document
from webapp.register.runs.verdict_basis import OTHER_SLICES, slices_in_words

SHOWN_RUNS = 20


def stored_runs(document: Document, profile: Profile) -> list[dict[str, Any]]:
    """Return the public runs and the example runs of a log, each with the sentence on its verdict."""
    source = document["input"]
    hashes = {source.get("sha256"), source.get("content_sha256")} - {None}
    of_log = Q(reading__evidence__sha256__in=hashes) | Q(reading__evidence__content_sha256__in=hashes)
    on_site = Q(pk__in=Run.objects.public().values("pk")) | Q(pk__in=Run.objects.examples().values("pk"))
    verdicts = Prefetch("verdicts", Verdict.objects.select_related("profile"))
    runs = Run.objects.filter(of_log, on_site).select_related("reading__evidence").prefetch_related(verdicts)
    readings = {_place(read): read for read in document["runs"]}
    return [
        {"run": run} | _comparison(run, readings.get((run.member, run.facts.get("first_line"))), profile)
        for run in runs.order_by("pk")[:SHOWN_RUNS]
        if not is_withheld(run)
    ]


def _place(read: Document) -> tuple[str, int]:
    """Return where a run is in its file: readers of other versions may number runs differently."""
    return (read.get("member") or "")[:MEMBER_CHARS], read["first_line"]


def _comparison(run: Run, read: Document | None, profile: Profile) -> dict[str, Any]:
    """Return whether the register gave a run the verdict of this reading, and otherwise the sentence on its verdict."""
    verdict = next(iter(run.verdicts.all()), None)
    if verdict is None:
        return {"has_same_verdict": False, "sentence": ""}
    if read and verdict.profile == profile and (read.get("verdict") or {}).get("outcome") == verdict.outcome:
        return {"has_same_verdict": True, "sentence": ""}
    slices = "" if run.slice_length_s is None else f", in {slices_in_words(run.slice_length_s)}"
    judged = f"Its verdict is “{verdict.get_outcome_display()}”, under profile {verdict.profile}{slices}."
    is_same_length = read is not None and read["slice_length_s"] == run.slice_length_s
    return {"has_same_verdict": False, "sentence": judged if is_same_length else f"{judged} {OTHER_SLICES}"}
