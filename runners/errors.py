"""What can go wrong between the register and a host; the class decides what happens next, never the text."""

from typing import ClassVar

from runners.models.states import State


class HostError(Exception):
    """A host did not do what it was asked. `retry`: the next look asks again; otherwise `ends_in` is the state."""

    retry: ClassVar[bool] = True
    ends_in: ClassVar[State] = State.FAILED


class HostSilentError(HostError):
    """No answer, or none that can be read; whether the host did what it was asked is unknown."""


class HostElsewhereError(HostError):
    """The host is another machine than this one; only a process that runs there can ask it."""


class MachineUnknownError(HostError):
    """This machine cannot be told from others, so nobody knows whether it is the host; its operator has to mend it."""


class ProgramMissingError(HostError):
    """The host has no `drivetest`; the operator has to build or install it."""

    retry = False


class DeviceUnknownError(HostError):
    """The host cannot tell what the device is, so nothing may be written to it."""

    retry = False
    ends_in = State.REFUSED


class FileExistsOnHostError(HostError):
    """A file that was to be created is there already; it is left as it is."""

    retry = False
    ends_in = State.REFUSED


class StartRefusedError(HostError):
    """The host will not start the program: the drive is busy, or a newer generation was there."""

    retry = False
    ends_in = State.REFUSED


class StartFailedError(HostError):
    """The host could not start the program."""

    retry = False


class FileMissingError(HostError):
    """A file of a run that was started is not there."""

    retry = False
    ends_in = State.LOST
