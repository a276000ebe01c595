"""Archives with logs of several drives, which the side files reveal. A submission is of one drive."""

from collections.abc import Iterable, Mapping
from typing import Any

from results.errors import ReviewRefusedError
from results.ingest.rows import VIRTUAL
from results.models import Run
from results.reader.process import Document
from results.rules.plural import listed

SHOWN_MEMBERS = 3
Drives = dict[str, list[str]]


class SeveralDrivesError(ReviewRefusedError):
    """The side files of an archive name several models of drives; `drives` has the logs of each."""

    def __init__(self, drives: Drives) -> None:
        super().__init__(several_drives_message(drives), "several-drives")
        self.drives = drives


def drives_of_document(document: Document) -> Drives:
    """Return the models that the side files of a reading name, each with its logs; empty if it is one at most."""
    runs = [*document["runs"], *document.get("ycsb_runs", [])]
    return _drives((run.get("member") or "", run.get("side_file")) for run in runs)


def drives_of_runs(runs: Iterable[Run]) -> Drives:
    """Return the same for stored runs."""
    return _drives((run.member, run.facts.get("side_file")) for run in runs)


def several_drives_message(drives: Drives) -> str:
    """Return the sentences about an archive with logs of several drives."""
    found = "; ".join(f"{model} in {_names(members)}" for model, members in sorted(drives.items()))
    return (
        f"The side files name several drives: {found}. Expected the logs of one drive, because a submission has one "
        "product. Send the logs of each drive separately, in an archive of its own, or state the drive of each log "
        "of a draft."
    )


def _drives(logs: Iterable[tuple[str, Mapping[str, Any] | None]]) -> Drives:
    """Return the logs by the models of their drives. Several units of a model are one drive, also of another size."""
    found: Drives = {}
    spellings: dict[str, str] = {}
    for member, side_file in logs:
        drives = [drive for drive in (side_file or {}).get("drives", []) if drive["kind"] != VIRTUAL]
        models = sorted({(drive.get("model") or "").strip() for drive in drives} - {""})
        if models:
            name = " + ".join(models)
            members = found.setdefault(spellings.setdefault(name.casefold(), name), [])
            members.extend([member] if member not in members else [])
    return found if len(found) > 1 else {}


def _names(members: list[str]) -> str:
    shown, rest = members[:SHOWN_MEMBERS], len(members) - SHOWN_MEMBERS
    return listed([*shown, f"{rest} more"] if rest > 0 else shown)
