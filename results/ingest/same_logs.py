"""The same log in two submissions of an organisation: once alone, and once in an archive.

Identical files are one submission (results/intake/submissions.py); archives differ, so their members are compared by
hash: as they are in the archive, and decompressed. Only submissions of the same organisation are compared: the answer
reveals nothing about those of others.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Q

from results.ingest.rows import MEMBER_CHARS
from results.models import Evidence, Reading, Run, Submission, Visibility
from results.reader.process import Document

LOG = "log"  # the role of a member that is a log
MEMBER_HASHES = ("sha256", "content_sha256")  # the second one only of a log that is compressed within the archive
# Public, or will be: a sequestered run may return.
SHOWN = frozenset({Visibility.EMBARGOED, Visibility.PUBLIC, Visibility.SUPERSEDED, Visibility.SEQUESTERED})


def hashes_of_document(document: Document) -> dict[str, str]:
    """Return the hashes of the logs that a reading found, with the names of the members; "" for a plain log."""
    source = document["input"]
    if source.get("members"):
        return _member_hashes(source["members"])
    return dict.fromkeys(filter(None, (source["sha256"], source["content_sha256"])), "")


def known_logs(organisation_id: int, hashes: Mapping[str, str], without: int = 0) -> dict[str, Submission]:
    """Return the first submission of the organisation that has each log, by the names in `hashes`.

    Hidden logs are left out, because the answer would reveal their hashes.
    `without` is the key of a submission that does not count; no row has the key 0.
    """
    found: dict[str, Submission] = {}
    others = Submission.objects.filter(organisation=organisation_id, log__hidden=False).exclude(pk=without)
    for submission in others.filter(_has_log(hashes, "log")).select_related("log").distinct().order_by("pk"):
        for sha256 in sorted(set(_hashes_of_submission(submission)) & set(hashes)):
            found.setdefault(hashes[sha256], submission)
    return found


def known_logs_of(submission: Submission) -> dict[str, Submission]:
    """Return the first other submission that has each log of a submission, by the name of the member.

    Empty for a hidden log.
    """
    if submission.log.hidden:
        return {}
    return known_logs(submission.organisation_id, _hashes_of_submission(submission), without=submission.pk)


def run_of_same_log(run: Run) -> Run | None:
    """Return a run of the same log in another submission of the organisation that is public or will be; or None."""
    submission = run.submission
    if submission is None or run.reading is None:
        return None
    hashes = _hashes_of_run(run)
    others = Run.objects.filter(submission__organisation=submission.organisation_id, visibility__in=SHOWN)
    others = others.exclude(submission=submission).filter(_has_log(hashes, "reading__evidence"))
    same = (other for other in others.select_related("reading__evidence").distinct().order_by("pk"))
    return next((other for other in same if _hashes_of_run(other) & hashes), None)


def _has_log(hashes: Iterable[str], evidence: str) -> Q:
    """Return the condition that a file is one of some logs, or an archive with one; `evidence` leads to the file."""
    known = Q(**{f"{evidence}__sha256__in": list(hashes)}) | Q(**{f"{evidence}__content_sha256__in": list(hashes)})
    for sha256 in hashes:
        for name in MEMBER_HASHES:
            known |= Q(**{f"{evidence}__readings__members__contains": [{name: sha256, "role": LOG}]})
    return known


def _hashes_of_submission(submission: Submission) -> dict[str, str]:
    hashes = dict.fromkeys(_file_hashes(submission.log), "")
    for reading in Reading.objects.filter(evidence=submission.log_id).order_by("pk"):
        hashes |= _member_hashes(reading.members)
    return hashes


def _hashes_of_run(run: Run) -> set[str]:
    """Return the hashes of the log of one run: of its member in an archive, or of the whole file."""
    if run.reading is None:
        return set()
    if not run.member:
        return set(_file_hashes(run.reading.evidence))
    hashes = _member_hashes(run.reading.members)
    return {sha256 for sha256, name in hashes.items() if name[:MEMBER_CHARS] == run.member}


def _file_hashes(evidence: Evidence) -> list[str]:
    return [each for each in (evidence.sha256, evidence.content_sha256) if each]


def _member_hashes(members: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    logs = [each for each in members if each["role"] == LOG]
    return {sha256: each["name"] for each in logs for name in MEMBER_HASHES if (sha256 := each.get(name))}
