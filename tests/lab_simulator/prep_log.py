"""The files of a simulated preparation: zeros, then random data, at the drive's write speed."""

import json
from datetime import timedelta

from tests.lab_simulator.act_log import EPOCH, stamp

PASSES = ("zero", "salt")
PROGRESS_S = 10


class PrepLog:
    """The files of one preparation. Both passes write the whole drive (docs/reference/formats.md, `prep`)."""

    def __init__(self, path, drive, started_s, clock_offset_s):
        self.path, self.drive, self.started_s = path, drive, started_s
        self.started_at = EPOCH + timedelta(seconds=started_s + clock_offset_s)
        self.pass_s = drive.size_bytes / drive.write_bytes_per_s
        self.duration_s = self.pass_s * len(PASSES)
        self.done_s = 0.0
        self.log, self.side = bytearray(f"cleaning device {path}\n".encode()), bytearray()
        started = {"schema": "drivecert.prep/1", "program_version": "0.2.0", "seed": 1, "passes": PASSES}
        started |= {"steady": None, "is_resumed": False, "devices": [drive.identity(path, started_s)]}
        self._add_record("start", started)

    def grow(self, elapsed_s):
        last_s = min(elapsed_s, self.duration_s)
        while self.done_s + PROGRESS_S <= last_s:
            self._continue_to(self.done_s + PROGRESS_S)

    def finish(self, reason):
        """Write the end; a finished preparation has written the whole drive."""
        if reason == "finished":
            self._continue_to(self.duration_s)
        written = {"written_bytes": self._written_bytes(), "elapsed_ns": int(self.done_s * 10**9)}
        self.log += f"{reason}: {written['written_bytes']} bytes in {self.done_s:.0f} s\n".encode()
        self._add_record("end", {"reason": reason, "text": ""} | written)

    def _continue_to(self, done_s):
        is_begun = self.done_s < self.pass_s <= done_s
        self.done_s = done_s
        if is_begun:
            self.log += f"salting device {self.path}\n".encode()
        rate = {"bytes_per_s": self.drive.write_bytes_per_s, "remaining_s": int(self.duration_s - done_s)}
        done = {"done_bytes": self._written_bytes(), "total_bytes": len(PASSES) * self.drive.size_bytes}
        self._add_record("progress", {"phase": PASSES[done_s >= self.pass_s]} | done | rate)

    def _written_bytes(self):
        return int(self.done_s * self.drive.write_bytes_per_s)

    def _add_record(self, kind, fields):
        at = {"at": stamp(self.started_at, self.done_s)}
        self.side += json.dumps({"record": kind} | at | fields).encode() + b"\n"
