"""The page of a draft: what has arrived, what the register read, and what is missing."""

from decimal import InvalidOperation
from typing import Any

from django.db.models import QuerySet

from results.ingest.draft_readings import PREVIEW_SLICES
from results.ingest.same_logs import hashes_of_document, known_logs
from results.models import Draft, DraftFile, DraftReading, Organisation, Submission
from results.reader.process import Document
from results.reevaluation.slice_lengths import depends_on_slices
from webapp.register.trial.page import trial_page
from webapp.submissions.drafts.forms import FactsForm
from webapp.submissions.drafts.prefill import facts_of, known_products, latest_submission, stated_facts
from webapp.submissions.forms import SlicesForm
from webapp.submissions.page import attempts_sentences

CUT = f"The preview shows the first {PREVIEW_SLICES:,} slices of a run. The page of the submission has all."
NUMBER_TOO_LARGE = "The log has a number that no column of the register holds, so this page cannot show the result."


def draft_page(draft: Draft, form: FactsForm | None = None, like: str = "") -> dict[str, Any]:
    """Return everything that the page shows; `form` is one with errors, `like` the submission whose facts it takes."""
    reading = DraftReading.objects.filter(draft=draft).first()
    files = list(draft.files.all())
    document = reading.document if reading else None
    companions = document["input"].get("companions", []) if document else []
    roles = {companion["sha256"]: companion["role"] for companion in companions}  # as the submission shows them later
    facts, origin = stated_facts(document, draft.organisation) if document else ({}, "")
    latest = latest_submission(draft.organisation)
    if latest is not None and latest.public_id == like:
        facts = facts_of(latest) | facts
    is_finished = reading is not None and is_read(reading)
    return {
        "section": "submit",
        "draft": draft,
        "files": [(file, roles.get(file.sha256) or file.role) for file in files],
        "is_arriving": any(not file.is_complete for file in files),
        "reading": reading,
        "is_finished": is_finished,
        "error": reading.error if reading and reading.state == DraftReading.State.FAILED else None,
        "attempts": attempts_sentences(reading),
        "facts_origin": origin,
        "latest": latest if latest is not None and latest.public_id != like else None,
        "form": form or FactsForm(initial=facts),
        "slices_form": SlicesForm(initial={"slice_length_s": draft.slice_length_s})
        if reading is None or depends_on_slices(reading.error)
        else None,
        "known_as": _known_as(draft) if is_finished else None,
        "known_logs": _known_logs(draft, document) if document else {},
        **(_preview(document) if document else {}),
        **(_names(draft.organisation) if is_finished else {}),
    }


def is_read(reading: DraftReading) -> bool:
    """Return whether a reading has a result or an error that stays."""
    return reading.state in {DraftReading.State.DONE, DraftReading.State.FAILED}


def _preview(document: Document) -> dict[str, Any]:
    is_cut = any(run["slices_count"] > len(run["slices"]) for run in document["runs"])
    try:
        return {"preview": trial_page(document) | {"cut_sentence": CUT if is_cut else ""}}
    except InvalidOperation:
        return {"preview_problem": NUMBER_TOO_LARGE}


def _known_as(draft: Draft) -> Submission | None:
    """Return the submission of the same log by the same organisation, if there is one."""
    log = draft.files.filter(role=DraftFile.Role.LOG).first()
    sent = Submission.objects.filter(organisation=draft.organisation)
    return sent.filter(log__sha256=log.sha256).first() if log else None


def _known_logs(draft: Draft, document: Document) -> dict[str, Submission]:
    """Return the logs that other files of the organisation have, such as a log that was sent alone before."""
    return known_logs(draft.organisation_id, hashes_of_document(document))


def _names(organisation: Organisation) -> dict[str, QuerySet[Any, str]]:
    """Return the makers and models that the form offers."""
    products = known_products(organisation)
    return {
        "makers": products.order_by("vendor").values_list("vendor", flat=True).distinct(),
        "models": products.order_by("model").values_list("model", flat=True).distinct(),
    }
