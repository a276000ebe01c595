"""The preview of a draft, for page and API: what the register read, and what it knows of the drive and of the log."""

from dataclasses import dataclass, field
from decimal import InvalidOperation
from typing import Any

from results.ingest.draft_readings import PREVIEW_SLICES
from results.ingest.same_logs import hashes_of_document, known_logs
from results.ingest.several_drives import drives_of_document, several_drives_message
from results.intake.archive_logs import ArchiveLog, logs_of_archive
from results.intake.drafts import DraftState, state_of
from results.models import Draft, DraftFile, DraftReading, Organisation, Submission
from results.reader.process import Document
from webapp.register.trial.page import trial_page
from webapp.submissions.drafts.prefill import Facts, FactsOrigin, known_products, stated_facts

CUT = f"The preview shows the first {PREVIEW_SLICES:,} slices of a run. The page of the submission has all."
NUMBER_TOO_LARGE = "The log has a number that no column of the register holds, so this page cannot show the result."


@dataclass(frozen=True)
class DraftPreview:
    """A draft with its files, each with the role that the reader found, and the result of its reading.

    `trial` is the content of the preview, and `problem` the sentence that states why there is none. `known_as` is the
    submission of the same file, and `known_logs` has the submissions of its logs by member. The organisation may know
    of `makers` and `models`. `several_drives` is the sentence about an archive with logs of several drives. `logs` are
    those of an archive of several logs.
    """

    draft: Draft
    files: list[tuple[DraftFile, str]]
    reading: DraftReading | None
    state: DraftState
    facts: Facts = field(default_factory=dict)
    facts_origin: FactsOrigin = FactsOrigin.NONE
    trial: dict[str, Any] | None = None
    problem: str = ""
    known_as: Submission | None = None
    known_logs: dict[str, Submission] = field(default_factory=dict)
    several_drives: str = ""
    logs: list[ArchiveLog] = field(default_factory=list)
    makers: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)

    @property
    def is_finished(self) -> bool:
        """Return whether the log was read, or has an error that stays."""
        return self.state in {DraftState.READ, DraftState.FAILED}

    def log_facts(self) -> dict[str, Facts]:
        """Return the facts that the files state about the drive of each log of an archive, by its name."""
        return {log.name: stated_facts(log.document, self.draft.organisation)[0] for log in self.logs}

    @property
    def document(self) -> Document | None:
        """Return the result of the reader, without intervals; None without one."""
        return self.reading.document if self.reading else None

    @property
    def error(self) -> Document | None:
        """Return the reader's error that stays; None if the log was read, or may still be read."""
        return self.reading.error if self.reading and self.state == DraftState.FAILED else None


def preview_of(draft: Draft) -> DraftPreview:
    """Return the preview of a draft that is not submitted."""
    reading = DraftReading.objects.filter(draft=draft).first()
    files = list(draft.files.all())
    state = state_of(draft, files, reading)
    document = reading.document if reading else None
    companions = document["input"].get("companions", []) if document else []
    roles = {companion["sha256"]: companion["role"] for companion in companions}  # as the submission shows them later
    parts: dict[str, Any] = {}
    if document:
        parts["facts"], parts["facts_origin"] = stated_facts(document, draft.organisation)
        parts["known_logs"] = known_logs(draft.organisation_id, hashes_of_document(document))
        drives = drives_of_document(document)
        parts["several_drives"] = several_drives_message(drives) if drives else ""
        parts["logs"] = logs_of_archive(document)
        parts |= _trial(document)
    preview = DraftPreview(
        draft, [(file, roles.get(file.sha256) or file.role) for file in files], reading, state, **parts
    )
    if not preview.is_finished:
        return preview
    known: dict[str, Any] = {"known_as": _known_as(draft, files), **_names(draft.organisation)}
    return DraftPreview(draft, preview.files, reading, state, **parts, **known)


def _trial(document: Document) -> dict[str, Any]:
    is_cut = any(run["slices_count"] > len(run["slices"]) for run in document["runs"])
    try:
        return {"trial": trial_page(document) | {"cut_sentence": CUT if is_cut else ""}}
    except InvalidOperation:
        return {"problem": NUMBER_TOO_LARGE}


def _known_as(draft: Draft, files: list[DraftFile]) -> Submission | None:
    """Return the submission of the same log by the same organisation, if there is one."""
    log = next((file for file in files if file.role == DraftFile.Role.LOG), None)
    sent = Submission.objects.filter(organisation=draft.organisation)
    return sent.filter(log__sha256=log.sha256).first() if log else None


def _names(organisation: Organisation) -> dict[str, list[str]]:
    """Return the makers and models that the form offers."""
    products = known_products(organisation)
    return {
        "makers": list(products.order_by("vendor").values_list("vendor", flat=True).distinct()),
        "models": list(products.order_by("model").values_list("model", flat=True).distinct()),
    }
