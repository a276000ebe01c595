"""Errors of a reading that the reader itself did not report, in the shape of docs/reference/formats.md."""

from django.conf import settings

from results.reader.process import (
    ROWS_MAX,
    Document,
    FormatError,
    OutputLimitError,
    ReaderKilledError,
    TooManySlicesError,
)

SHORTER = "Send the same file again and ask for longer slices (the profile judges slices of 3600 s)"
SEPARATE = "Send the runs of a file or archive separately, each as its own log"
SMALLER = f"{SHORTER}, or send the runs of a file or archive separately. The register still stores the file."
# Remedies for the sender of a log that meets a limit at every attempt.
REMEDIES = {
    "time": f"{SEPARATE}: a shorter log is read in less time",
    "memory": f"{SHORTER}, or send the runs of a file or archive separately",
}
OPERATOR = (
    "This is not a verdict on the log, and the register still stores it. After the operator has fixed the cause or "
    "raised the limit, a reviewer can retry the reading."
)


def failed_attempt(before: Document | None, error: Exception) -> Document:
    """Return what is kept of an attempt that did not come to an end: its words, and every limit met up to now."""
    met = list((before or {}).get("limits", []))
    if isinstance(error, ReaderKilledError):
        met.append({"limit": error.limit, "allowed": error.allowed})
    return {"id": type(error).__name__, "sentence": str(error), "limits": met}


def gave_up(last: Document | None) -> Document:
    """Return the error of a reading whose attempts are used up; `last` is what is kept of the one before."""
    sentence = last["sentence"] if last else "the reader ended without a message"
    met = last.get("limits", []) if last else []
    remedies = list(dict.fromkeys(REMEDIES[each["limit"]] for each in met if each["limit"] in REMEDIES))
    return _document(
        "reader-gave-up",
        f"The reader did not come to an end in {settings.READ_MAX_ATTEMPTS} attempts; the last: {sentence}",
        expected="a log that is read within the limits of time and memory",
        got=f"{settings.READ_MAX_ATTEMPTS} attempts without an end; the last: {sentence}",
        remedy=". ".join([*remedies, OPERATOR]),
    ) | {"limits": met}


def unreadable(error: Exception) -> Document:
    """Return the error of a log that another attempt would read the same: what its sender has to change."""
    if isinstance(error, FormatError):
        return error.error
    if isinstance(error, OutputLimitError):
        return _document(
            "reading-too-large",
            f"The reading of this file is larger than the register accepts: {error}.",
            expected=f"at most {settings.READ_OUTPUT_BYTES} bytes of slices, minutes and findings",
            got="more",
            remedy=SMALLER,
        ) | {"limits": [{"limit": error.limit, "allowed": error.allowed}]}
    if isinstance(error, TooManySlicesError):
        return _document(
            "too-many-slices",
            f"This file makes more rows than the register stores: {error}.",
            expected=f"at most {ROWS_MAX} slices times histograms, or status lines times operations",
            got=str(error.rows),
            remedy=SMALLER,
        )
    return _document(
        "value-out-of-range",
        "The log contains a number that is too large for any drive.",
        expected="rates, times and counts within the columns of the register",
        got=str(error).splitlines()[0] if str(error) else type(error).__name__,
        remedy="Check the configuration at the top of the log, and upload the log exactly as the program wrote it.",
    )


def _document(error_id: str, sentence: str, *, expected: str, got: str, remedy: str) -> Document:
    return {
        "id": error_id,
        "sentence": sentence,
        "line": None,
        "expected": expected,
        "got": got,
        "remedy": remedy,
    }
