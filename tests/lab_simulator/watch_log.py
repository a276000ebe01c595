"""The files of a simulated program that runs with telemetry: a YCSB stage that succeeds after some seconds."""

import json

STAGE_S = 20
CLIENT_LINES = b"[OVERALL], RunTime(ms), 20000\n[OVERALL], Throughput(ops/sec), 1.0\n"


class WatchLog:
    """The files of a stage, written at its end. Each stage has the log of a client, which must not be empty."""

    duration_s = STAGE_S

    def __init__(self, path, drive, started_s, clock_offset_s):
        self.log = bytearray()
        device = drive.identity(path, started_s)
        start = {"record": "start", "schema": "drivecert.watch/1", "devices": [device]}
        self.side = bytearray(json.dumps(start).encode() + b"\n")

    def grow(self, elapsed_s):
        """Write nothing before the end."""

    def finish(self, reason):
        self.log += CLIENT_LINES
        self.side += json.dumps({"record": "end", "reason": reason}).encode() + b"\n"
