"""How often a log was tried, which limits the attempts met, and when the next one is."""

from collections import Counter

from results.models import Reading
from webapp.templatetags import units


def attempts_sentences(reading: Reading | None) -> list[str]:
    """Return what is to be said of attempts that did not come to an end; nothing where there was none."""
    if reading is None or not reading.error or "limits" not in reading.error:
        return []
    said = [_tried(reading.counted_attempts, Counter((each["limit"], each["allowed"]) for each in _limits(reading)))]
    if reading.state == Reading.State.PENDING and reading.next_attempt_at is not None:
        said.append(f"The next attempt is at {units.moment(reading.next_attempt_at)}.")
    return said


def _limits(reading: Reading) -> list[dict[str, str]]:
    limits: list[dict[str, str]] = reading.error["limits"] if reading.error else []
    return limits


def _tried(attempts: int, met: Counter[tuple[str, str]]) -> str:
    tried = "Tried once" if attempts == 1 else f"Tried {attempts} times"
    if not met:
        return f"{tried}; no attempt met a limit."
    each = [
        f"{_attempts(times, attempts)} met the limit of {limit}, {allowed}" for (limit, allowed), times in met.items()
    ]
    return f"{tried}; {'; '.join(each)}."


def _attempts(times: int, attempts: int) -> str:
    if times >= attempts:
        return "the attempt" if times == 1 else "each attempt"
    return f"{times} of them"
