"""Notes about a submission that did not begin with these bytes: what its sender has to know, for page and API."""

from django.db import models

from results.intake.submissions import Receipt
from webapp.submissions.uploads import LEFT_OUT, MOVED

READ_AGAIN = (
    "This log was submitted before and could not be read. The register reads it again, with the new slice length and "
    "the new companion files."
)


class ReceiptNote(models.TextChoices):
    """What happened to known bytes."""

    KNOWN_LOG = "known-log", "This log was submitted before. Its submission is shown, with the facts as first stated."
    READ_AGAIN = "read-again", READ_AGAIN
    EMBARGO_CHANGED = "embargo-changed", MOVED
    FILES_LEFT_OUT = "files-left-out", LEFT_OUT


def notes_of(receipt: Receipt) -> list[tuple[ReceiptNote, str]]:
    """Return the notes of a receipt as codes with sentences; none for a new log."""
    if receipt.is_new:
        return []
    notes = [ReceiptNote.READ_AGAIN if receipt.is_read_again else ReceiptNote.KNOWN_LOG]
    if receipt.is_embargo_changed:
        notes.append(ReceiptNote.EMBARGO_CHANGED)
    if receipt.left_out:
        notes.append(ReceiptNote.FILES_LEFT_OUT)
    return [(note, note.label.format(names=", ".join(receipt.left_out))) for note in notes]
