"""Errors of a reading that the reader itself did not report, in the shape of docs/reference/formats.md."""

from django.conf import settings

from results.reader.process import ROWS_MAX, Document, ReaderKilledError, TooManySlicesError

SHORTER = "Send the same file again and ask for longer slices (the profile judges slices of 3600 s)"
SEPARATE = "Send the runs of a file or archive separately, each as its own log"
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
    return {
        "id": "reader-gave-up",
        "sentence": f"The reader did not come to an end in {settings.READ_MAX_ATTEMPTS} attempts; the last: {sentence}",
        "line": None,
        "expected": "a log that is read within the limits of time and memory",
        "got": f"{settings.READ_MAX_ATTEMPTS} attempts without an end; the last: {sentence}",
        "remedy": ". ".join([*remedies, OPERATOR]),
        "limits": met,
    }


def printed_too_much(error: ReaderKilledError) -> Document:
    """Return the error of a log that makes a longer answer than is taken: the same bytes would make it again."""
    return {
        "id": "reading-too-large",
        "sentence": f"The reading of this file is larger than the register accepts: {error}.",
        "line": None,
        "expected": f"at most {settings.READ_OUTPUT_BYTES} bytes of slices, minutes and findings",
        "got": "more",
        "remedy": f"{SHORTER}, or send the runs of a file or archive separately. The register still stores the file.",
        "limits": [{"limit": error.limit, "allowed": error.allowed}],
    }


def too_many_slices(error: TooManySlicesError) -> Document:
    """Return the error of a log that makes more rows than are kept."""
    return {
        "id": "too-many-slices",
        "sentence": f"This file makes more rows than the register stores: {error}.",
        "line": None,
        "expected": f"at most {ROWS_MAX} slices times histograms, or status lines times operations",
        "got": str(error.rows),
        "remedy": f"{SHORTER}, or send the runs of a file or archive separately. The register still stores the file.",
    }


def out_of_range(error: Exception) -> Document:
    """Return the error of a log with a number that no column holds."""
    return {
        "id": "value-out-of-range",
        "sentence": "The log contains a number that is too large for any drive.",
        "line": None,
        "expected": "rates, times and counts within the columns of the register",
        "got": str(error).splitlines()[0] if str(error) else type(error).__name__,
        "remedy": "Check the configuration at the top of the log, and upload the log exactly as the program wrote it.",
    }
