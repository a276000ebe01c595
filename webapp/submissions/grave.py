"""What speaks so gravely against publishing a submission that a reviewer has to accept it sentence by sentence."""

from collections.abc import Iterable, Sequence

from results.models import Run, Submission
from webapp.submissions.sizes import first_names, size_sentences


def grave_sentences(submission: Submission, runs: Iterable[Run]) -> list[str]:
    """Return why the log may be of no drive, or of another one; none where nothing speaks against it.

    What a side file proves to be no drive is not published at all (results.life); a name alone is weighed here.
    """
    every = list(runs)
    named = sorted({each["name"] for run in every if run.facts.get("is_virtual_device") for each in _devices(run)})
    sentences = [_no_drive(named)] if named else []
    return sentences + size_sentences(submission, every)


def _no_drive(names: Sequence[str]) -> str:
    devices = "is no drive by its name" if len(names) == 1 else "are no drives by their names"
    return f"{first_names(names)} {devices}: a run on memory or on a file says nothing of a drive."


def _devices(run: Run) -> list[dict[str, str]]:
    devices: list[dict[str, str]] = run.facts.get("devices", [])
    return devices
