"""A replacement for drivetest in tests of the steps around a reading; it knows the logs of tests/data/readings."""

import hashlib
import json
import sys
from pathlib import Path

READINGS = Path(__file__).parent.parent / "data" / "readings"


def unreadable(sha256: str, size_bytes: int) -> dict[str, object]:
    content = {"size_bytes": size_bytes, "sha256": sha256, "content_size_bytes": size_bytes, "content_sha256": sha256}
    error = {
        "id": "no-act-log",
        "sentence": "This is no log of ACT.",
        "line": 1,
        "expected": "a line 'ACT version 6.x'",
        "got": "something else",
        "remedy": "Upload the standard output of act_storage.",
    }
    return {
        "schema": "drivecert.reading/2",
        "reader": {"name": "drivetest", "version": "0.1.0"},
        "input": {"name": "log", "compression": "none", "lines_count": 1} | content,
        "error": error,
        "findings": [],
        "runs": [],
        "ycsb_runs": [],
    }


def main() -> int:
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write("drivetest 0.1.0\n")
        return 0
    content = Path(sys.argv[-1]).read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    for reading in READINGS.glob("*.json"):
        document = json.loads(reading.read_text())
        if document["input"]["sha256"] == sha256:
            sys.stdout.write(json.dumps(document))
            return 0
    sys.stdout.write(json.dumps(unreadable(sha256, len(content))))
    return 3


if __name__ == "__main__":
    sys.exit(main())
