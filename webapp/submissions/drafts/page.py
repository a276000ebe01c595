"""The page of a draft: what has arrived, what the register read, and what is missing."""

from typing import Any

from results.intake.drafts import DraftState
from results.models import Draft
from results.reevaluation.slice_lengths import depends_on_slices
from webapp.submissions.drafts.forms import FactsForm
from webapp.submissions.drafts.log_forms import LogForms
from webapp.submissions.drafts.prefill import facts_of, latest_submission
from webapp.submissions.drafts.preview import preview_of
from webapp.submissions.forms import SlicesForm
from webapp.submissions.page import attempts_sentences


def draft_page(
    draft: Draft, form: FactsForm | LogForms | None = None, like: str = "", *, is_each: bool = False
) -> dict[str, Any]:
    """Return everything that the page shows; `form` is one with errors, `like` the submission whose facts it takes.

    `is_each` asks for the drive of each log of an archive, which the page also does if they are of several drives.
    """
    found = preview_of(draft)
    log_forms = form if isinstance(form, LogForms) else None
    if log_forms is None and found.logs and (is_each or found.several_drives):
        log_forms = LogForms(found.log_facts())
    facts, reading = found.facts, found.reading
    latest = latest_submission(draft.organisation)
    if latest is not None and latest.public_id == like:
        facts = facts_of(latest) | facts
    return {
        "section": "submit",
        "draft": draft,
        "files": found.files,
        "is_arriving": found.state == DraftState.ARRIVING,
        "reading": reading,
        "is_finished": found.is_finished,
        "error": found.error,
        "attempts": attempts_sentences(reading),
        "facts_origin": found.facts_origin,
        "latest": latest if latest is not None and latest.public_id != like else None,
        "form": form if isinstance(form, FactsForm) else FactsForm(initial=facts),
        "log_forms": log_forms,
        "has_several_logs": bool(found.logs),
        "has_numbered_logs": any(log.name != log.member["name"] for log in found.logs),
        "slices_form": SlicesForm(initial={"slice_length_s": draft.slice_length_s})
        if reading is None or depends_on_slices(reading.error)
        else None,
        "known_as": found.known_as,
        "known_logs": found.known_logs,
        "several_drives": found.several_drives,
        "preview": found.trial,
        "preview_problem": found.problem,
        "makers": found.makers,
        "models": found.models,
    }
