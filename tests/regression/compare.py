"""Command that prints the differences of two recordings."""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.regression.normalization import mask_sentences  # noqa: E402 - the command runs without an installed package

MOST_PRINTED = 200
MOST_CHARACTERS = 160
MISSING = object()


def main() -> None:
    """Print the differences and exit with 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--most", type=int, default=MOST_PRINTED, help="differences to print [default: %(default)s]")
    parser.add_argument("--renamed", nargs="*", default=[], metavar="OLD=NEW", help="names that a change replaces")
    arguments = parser.parse_args()
    found = list(differences(load(arguments.before, arguments.renamed), load(arguments.after)))
    for line in found[: arguments.most]:
        print(line)  # noqa: T201 - the output of a command
    if len(found) > arguments.most:
        print(f"... and {len(found) - arguments.most} more")  # noqa: T201
    print(f"{len(found)} differences" if found else "no differences")  # noqa: T201
    sys.exit(1 if found else 0)


def load(path: Path, renamed: Sequence[str] = ()) -> dict[str, Any]:
    """Return the records of a file by their addresses, in the order of the file, with whole names replaced."""
    pairs = [each.partition("=")[::2] for each in renamed]
    records: dict[str, Any] = {}
    with path.open() as lines:
        for line in lines:
            text = line
            for old, new in pairs:
                text = re.sub(rf"(?<![\w-]){re.escape(old)}(?![\w-])", new, text)
            record = json.loads(text)
            records[record["address"]] = record
    return records


def differences(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    """Yield one line for each difference, in the order of the first recording."""
    for address in [*before, *(address for address in after if address not in before)]:
        if address not in after:
            yield f"{address}: only before"
        elif address not in before:
            yield f"{address}: only after"
        else:
            for place, old, new in value_differences(mask_sentences(before[address]), mask_sentences(after[address])):
                yield f"{address} {place}: {show(old)} -> {show(new)}"


def value_differences(old: Any, new: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield place, old and new value of each difference; names that begin with _ are not compared."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in [*old, *(name for name in new if name not in old)]:
            if not name.startswith("_"):
                yield from value_differences(old.get(name, MISSING), new.get(name, MISSING), f"{place}.{name}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from value_differences(one, other, f"{place}[{index}]")
    elif isinstance(old, list) and isinstance(new, list) and are_sets(old, new):
        yield place, sorted(set(old) - set(new)), sorted(set(new) - set(old))
    elif type(old) is not type(new) or old != new:
        yield place, old, new


def are_sets(old: list[Any], new: list[Any]) -> bool:
    """Return whether two lists of strings differ as sets, so that the difference is short."""
    return all(isinstance(item, str) for item in [*old, *new]) and set(old) != set(new)


def show(value: Any) -> str:
    """Return a value as short text."""
    if value is MISSING:
        return "(missing)"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}..."


if __name__ == "__main__":
    main()
