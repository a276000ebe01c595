from tests.lab_hosts.enrolled import new_enrolled, undisturbed_host, warm_connections_closed
from tests.lab_hosts.fixtures import loop_drives, new_lab_host
from tests.results.fixtures import evidence_dir, no_broker, program, real_reader, stand_in
from tests.runners.lab import (
    a_lab,
    connect,
    device,
    dispatch,
    drivetest,
    fake,
    frozen_clock,
    in_state,
    new_dispatch,
    other_drive,
    running,
    separate_evidence,
)
from tests.runners.sweeps import connect_both, loading, sender, sweep_of_two

__all__ = [
    "a_lab",
    "connect",
    "connect_both",
    "device",
    "dispatch",
    "drivetest",
    "evidence_dir",
    "fake",
    "frozen_clock",
    "in_state",
    "loading",
    "loop_drives",
    "new_dispatch",
    "new_enrolled",
    "new_lab_host",
    "no_broker",
    "other_drive",
    "program",
    "real_reader",
    "running",
    "sender",
    "separate_evidence",
    "stand_in",
    "sweep_of_two",
    "undisturbed_host",
    "warm_connections_closed",
]
