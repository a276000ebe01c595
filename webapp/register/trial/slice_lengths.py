"""Slice lengths that fit short logs: about a tenth, so that the slices show how the test changed over time."""

from results.reader.process import Document

PARTS = 10


def shorter_slice_length_s(duration_s: int | None, slice_length_s: int | None) -> int | None:
    """Return a tenth of a run that is shorter than one slice, in whole seconds, at least 1; None for other runs.

    >>> shorter_slice_length_s(60, 3600), shorter_slice_length_s(5, 3600), shorter_slice_length_s(3600, 3600)
    (6, 1, None)
    """
    if not duration_s or not slice_length_s or duration_s >= slice_length_s:
        return None
    return max(1, duration_s // PARTS)


def fitting_slice_length_s(document: Document) -> int | None:
    """Return the slice length for a log whose runs are all shorter than one slice; None for any other log.

    The length is that of the shortest run. A log with a longer run keeps its slices: only they can pass. Runs of
    unknown length do not count.
    """
    lengths = [(read["reached_s"], read["slice_length_s"]) for read in document["runs"]]
    fitting = [shorter_slice_length_s(*each) for each in lengths if all(each)]
    return min(each for each in fitting if each) if fitting and all(fitting) else None
