"""Mirrored runs, which came with the dump of another register. Their figures and verdicts are here, their logs are not.

A register imports at most one dump, whose origin is recorded as an event.
"""

from dataclasses import dataclass

from results.history import record_event
from results.models import Event, Objection, Run, Tier

DUMP_IMPORTED, THIS_REGISTER = "dump-taken-in", ("register", "here")  # kind and subject of the event
WEB_SCHEMES = ("https://", "http://")


@dataclass(frozen=True)
class DumpOrigin:
    """The origin of a dump: address of the register and day; empty if not reported."""

    address: str
    day: str

    def run_address(self, run: Run) -> str:
        """Return the address of the run there; empty if the dump names no web site."""
        return self._page(f"runs/{run.public_id}/")

    def objection_address(self, objection: Objection) -> str:
        """Return the address of the objection there; empty if the dump names no web site."""
        return self._page(f"objections/{objection.public_id}/")

    def _page(self, path: str) -> str:
        return f"{self.address.rstrip('/')}/{path}" if self.address.startswith(WEB_SCHEMES) else ""


def is_mirrored(run: Run) -> bool:
    """Return whether a run was read from a log that this register never had."""
    return run.submission_id is None and run.reading_id is None and run.tier != Tier.PUBLISHED


def record_dump_origin(address: str, written_at: str) -> None:
    """Record which dump this register imported."""
    record_event(None, DUMP_IMPORTED, THIS_REGISTER, details={"source": address, "written_at": written_at})


def dump_origin() -> DumpOrigin:
    """Return the origin of the imported dump. A register imports at most one dump, while it is empty."""
    event = Event.objects.filter(kind=DUMP_IMPORTED, subject_type=THIS_REGISTER[0], subject_id=THIS_REGISTER[1]).last()
    details = event.details if event else {}
    return DumpOrigin(details.get("source", ""), details.get("written_at", "").partition("T")[0])


def missing_log_message(run: Run) -> str:
    """Return the reason why this register has no log of a run."""
    if not is_mirrored(run):
        return f"Run {run.public_id} has no log, because it comes from a publication."
    came = dump_origin()
    dump = f"a dump of {came.address}" if came.address else "a dump"
    address = came.run_address(run)
    there = f" See the original run: {address}" if address else ""
    return f"The register has no log of run {run.public_id}: the run came with {dump}, which has no logs.{there}"
