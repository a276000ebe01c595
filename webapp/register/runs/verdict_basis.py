"""The basis of a verdict in sentences: its profile and slices, and why other slices can give another verdict."""

import json

from results.models import Profile, Run
from webapp.templatetags import units

HOUR_S, MINUTE_S = 3600, 60
OTHER_SLICES = (
    "Slices of another length can give another verdict: a minute with many slow reads weighs more in a short slice "
    "than in a long one."
)
OVERLOAD_STOP = "cannot-keep-up"  # the kind of stop of a program that could not keep up (docs/reference/formats.md)


def was_overloaded(run: Run) -> bool:
    """Return whether a run ended because its program could not keep up with the requested load."""
    return bool((run.facts.get("stop") or {}).get("kind") == OVERLOAD_STOP)


def basis_sentence(run: Run, profile: Profile) -> str:
    """Return by which profile and in which slices a run was judged, and which slices the profile requires instead."""
    judged = f"Judged under profile {profile}"
    if run.slice_length_s is None:
        return f"{judged}."
    judged = f"{judged}, in {slices_in_words(run.slice_length_s)}."
    required_s = required_slice_length_s(profile)
    if run.slice_length_s == required_s:
        return judged
    return f"{judged} The profile requires {slices_in_words(required_s)}. {OTHER_SLICES}"


def fitting_basis_sentence(profile: Profile, *, has_other_runs: bool) -> str:
    """Return by which profile a run is judged whose slices are shorter only because its log is."""
    required, part_of = slices_in_words(required_slice_length_s(profile)), "shortest run" if has_other_runs else "log"
    return (
        f"Judged under profile {profile}. The profile requires {required}, and the log is shorter. Each slice on this "
        f"page is about a tenth of the {part_of}, and does not change the verdict."
    )


def required_slice_length_s(profile: Profile) -> int:
    """Return the slice length that a profile requires."""
    length_s: int = json.loads(profile.document)["slice_length_s"]
    return length_s


def slices_in_words(length_s: int) -> str:
    """Return slices with their length: slices of 2 minutes."""
    return f"slices of {duration_in_words(length_s)}"


def duration_in_words(duration_s: int) -> str:
    """Return a duration with the largest unit that divides it: 24 hours, 1 minute, 90 seconds."""
    size, unit = next(
        (each for each in ((HOUR_S, "hour"), (MINUTE_S, "minute")) if duration_s and duration_s % each[0] == 0),
        (1, "second"),
    )
    return units.counted(duration_s // size, unit)
