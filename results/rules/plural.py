"""Numbers with what they count."""


def counted(number: int, thing: str) -> str:
    """Return a number with what it counts, thousands separated.

    >>> counted(1, "device"), counted(1000, "device"), counted(0, "run")
    ('1 device', '1,000 devices', '0 runs')
    """
    return f"{number:,d} {thing}{'' if number == 1 else 's'}"
