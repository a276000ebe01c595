"""The JSON lines of `drivetest prep` (docs/reference/formats.md) for an invented preparation."""

import json

AT = "2026-11-21T10:00:00.000Z"
PROGRESS = {"phase": "salt", "done_bytes": 600, "total_bytes": 800, "bytes_per_s": 100, "remaining_s": 2}


def prep_record(drive_key, reason="finished", **started):
    start = {"record": "start", "at": AT, "schema": "drivecert.prep/1", "passes": ["zero", "salt"]}
    start |= {"is_resumed": False, "devices": [{"path": "/dev/fake0", "drive_key": drive_key}]} | started
    end = {"record": "end", "at": AT, "reason": reason, "text": ""}
    return lines(start, {"record": "progress", "at": AT} | PROGRESS, end)


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records).encode()
