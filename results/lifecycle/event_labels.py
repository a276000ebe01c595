"""What the kinds of events on a run or a certificate mean, in the words that its history shows."""

EVENT_LABELS = {
    "run-published": "published",
    "run-embargoed": "reviewed, under embargo",
    "run-recalled": "taken back into review",
    "run-superseded": "superseded by another run",
    "run-unsuperseded": "no longer superseded",
    "run-withdrawn": "withdrawn",
    "run-reinstated": "reinstated",
    "run-annotated": "annotated",
    "annotation-retracted": "annotation retracted",
    "run-corrected": "corrected",
    "correction-taken-back": "correction taken back",
    "run-changed": "changed with the published catalogue",
    "run-judged-anew": "judged anew",
    "submission-slices-changed": "read in other slices",
    "run-not-found-again": "not found by a newer reader",
    "certificate-issued": "issued",
    "certificate-withdrawn": "withdrawn",
    "certificate-reinstated": "reinstated",
}


def event_label(kind: str) -> str:
    """Return what a kind of event is called; an unknown one by its own name, which is a word or two already."""
    return EVENT_LABELS.get(kind, kind.replace("-", " "))
