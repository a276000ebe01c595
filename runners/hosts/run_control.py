"""Closing a run directory: from then on nothing starts there, also no start that is still on its way to the host."""

from runners.hosts.protocol import Detached, LabHost, ProgramStatus


def close(host: LabHost, run: str) -> ProgramStatus:
    """Ask the program of a run to end, make sure that none starts there later, and return how it stands."""
    host.put(run, {})  # a directory that is not there cannot be closed
    return host.stop(run)


def was_never_started(closed: ProgramStatus) -> bool:
    """Tell whether a run that was closed never had a program: none is there, and none can come."""
    return closed.state is Detached.ENDED and closed.pid is None


def status_or_close(host: LabHost, run: str) -> ProgramStatus:
    """Return the status of a run that nobody waits for any more; where nothing was started, nothing ever will be.

    A start whose answer never came may still be under way when its host says "absent".
    """
    status = host.status(run)
    return close(host, run) if status.state is Detached.ABSENT else status
