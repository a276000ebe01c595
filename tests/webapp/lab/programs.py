"""The operator's list of programs that a sweep may run."""

import json

NEEDED = ("mkfs-xfs", "mount", "unmount", "ycsb", "go-ycsb", "aerospike-start", "aerospike-stop",
          "mongodb-start", "mongodb-stop")  # fmt: skip


def allow(path, names=NEEDED):
    """Write a list, and return its path."""
    programs = {name: {"path": f"/usr/bin/{name}"} for name in names}
    path.write_text(json.dumps({"schema": "drivecert.programs/1", "programs": programs}))
    return path
