"""Runs that certify a drive; each test removes one requirement."""

from dataclasses import replace
from decimal import Decimal

from results.rules.certification.facts import CandidateRun, DriveInRun, DriveState, Preparation

STATE = DriveState(firmware="FW1", over_provisioning_pct=Decimal("7"), reset_at_s=1_000)
PREPARED = Preparation("p-1", started_at_s=2_000, finished_at_s=9_000, evidence_id="e-1")


def drive(key="nvme:EX4:S1", **columns):
    return replace(DriveInRun(key, PREPARED, STATE, STATE), **columns)


def run(run_id="r-load", nx=30, drives=("nvme:EX4:S1",), **columns):
    """Return a passing run of one day at N on real drives with all facts known."""
    known = CandidateRun(
        id=run_id,
        outcome="pass",
        stop_kind="finished",
        reads_per_s=2000 * nx * len(drives),
        writes_per_s=1000 * nx * len(drives),
        device_count=len(drives),
        duration_s=86_400,
        is_virtual=False,
        started_at_s=10_000,
        drives=tuple(drive(key) for key in drives),
    )
    return replace(known, **columns)


def stress(run_id="r-stress", nx=60, **columns):
    """Return a stress test of one day that exceeds its limits, which a stress test may do."""
    return run(run_id, nx, **{"outcome": "fail"} | columns)
