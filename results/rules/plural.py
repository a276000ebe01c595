"""Numbers with what they count, and lists in words."""

from collections.abc import Sequence


def counted(number: int, thing: str) -> str:
    """Return a number with what it counts, thousands separated.

    >>> counted(1, "device"), counted(1000, "device"), counted(0, "run")
    ('1 device', '1,000 devices', '0 runs')
    """
    return f"{number:,d} {thing}{'' if number == 1 else 's'}"


def listed(parts: Sequence[str]) -> str:
    """Return parts of a sentence as a list in words.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed([])
    ('a', 'a, b and c', '')
    """
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))
