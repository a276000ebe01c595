"""Tables of plain text, divided into columns by their dashes or by the places of their heads."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

HEAD = re.compile(r"\S+")
DASHES = re.compile(r"-+")
ESCAPED = re.compile(r"\\x([0-9a-fA-F]{2})")


def by_dashes(head: str, dashes: str, lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """Yield the rows of a table whose columns are as wide as the dashes below the head, as nvme list prints it.

    >>> list(by_dashes("Node Model", "---- -----", ["a    b c d"]))
    [{'Node': 'a', 'Model': 'b c d'}]
    """
    starts = [found.start() for found in DASHES.finditer(dashes)]
    places = list(zip(starts, [*starts[1:], None], strict=True))
    names = [head[start:end].strip() for start, end in places]
    for line in lines:
        yield {name: line[start:end].strip() for name, (start, end) in zip(names, places, strict=True)}


def by_heads(head: str, lines: Sequence[str]) -> list[dict[str, str]]:
    r"""Return the rows of a table that is aligned by blanks, as lsblk prints it; numbers are aligned to the right.

    A table of lsblk --raw has one blank between columns, and \x20 for a blank in a value.

    >>> by_heads("NAME MODEL    SIZE", ["sda  EX 4 X 894.3G", "sdb            1T"])
    [{'NAME': 'sda', 'MODEL': 'EX 4 X', 'SIZE': '894.3G'}, {'NAME': 'sdb', 'MODEL': '', 'SIZE': '1T'}]
    """
    heads = list(HEAD.finditer(head))
    names = [found[0] for found in heads]
    if head.strip() == " ".join(names) and all(line.count(" ") == len(names) - 1 for line in lines):
        return [dict(zip(names, map(_unescaped, line.split(" ")), strict=True)) for line in lines]
    cuts = [0, *(_cut(before.end(), after.start(), lines) for before, after in pairwise(heads))]
    places = list(zip(names, cuts, [*cuts[1:], None], strict=True))
    return [{name: line[start:end].strip() for name, start, end in places} for line in lines]


def _cut(start: int, end: int, lines: Sequence[str]) -> int:
    """Return the last place between two heads where every line has a blank.

    The value before it may contain blanks, and the value after it may begin before its head.
    """
    blank = (at for at in range(end - 1, start - 1, -1) if all(line[at : at + 1] in {"", " "} for line in lines))
    return next(blank, end - 1)


def _unescaped(value: str) -> str:
    return ESCAPED.sub(lambda found: chr(int(found[1], 16)), value)
