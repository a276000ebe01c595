from tests.results.fixtures import evidence_dir, no_broker, program, stand_in
from tests.runners.lab import a_lab, device, dispatch, fake, in_state, new_dispatch

__all__ = [
    "a_lab",
    "device",
    "dispatch",
    "evidence_dir",
    "fake",
    "in_state",
    "new_dispatch",
    "no_broker",
    "program",
    "stand_in",
]
