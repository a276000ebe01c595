"""Findings about the host that may explain a failed run, in words.

Adapter for stored headlines: drivetest ends the headline of such a run with the ids of the findings. The facts of a run
have them as codes (`side_file.host_causes`), and decisions use these codes. But the facts are those of the newest
reading. Earlier verdicts and the events of re-evaluations have the headline alone, so the ids are found by their text.
Nothing is decided by it.
"""

import re
from collections.abc import Mapping

HOST_CAUSES: Mapping[str, str] = {  # ids of docs/reference/findings.md
    "generator-late": "the load generator was late",
    "host-busy": "the processors of the host were busy",
    "host-stolen": "other machines used the processors of the host",
}
IDS = re.compile(r"(?<=the host may be the cause: )[a-z-]+(?:(?:, | and )[a-z-]+)*")
WORD = re.compile(r"[a-z-]+")


def with_causes_in_words(headline: str) -> str:
    """Return the headline of a verdict with words for the ids of its host causes. An unknown id stays.

    >>> with_causes_in_words("fails: slice 2; the host may be the cause: generator-late and host-busy")
    'fails: slice 2; the host may be the cause: the load generator was late and the processors of the host were busy'
    """
    return IDS.sub(lambda ids: WORD.sub(lambda word: HOST_CAUSES.get(word[0], word[0]), ids[0]), headline)
