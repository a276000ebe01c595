"""Refused requests, and failures between the register and a host. The class of an error decides what happens next."""

from typing import ClassVar

from runners.models.states import State


class RequestRefusedError(ValueError):
    """The register does not do what a person requested. The text gives the reason and the remedy.

    `code` names the reason for scripts; those without a code of their own have that of their class.
    """

    code = "refused"

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code or type(self).code


class HostError(Exception):
    """A host did not do what was requested.

    `retry`: the next poll repeats the request. Otherwise the dispatch ends in the state `ends_in`.
    """

    retry: ClassVar[bool] = True
    ends_in: ClassVar[State] = State.FAILED


class HostUnavailableError(HostError):
    """The host gave no answer, or none that can be parsed. Whether it did what was requested is unknown."""


class HostFaultError(HostUnavailableError):
    """The host answered that it could not do what was requested now, for example because its disk is full."""


class HostElsewhereError(HostError):
    """The host is another machine. Only a process that runs there can use it."""


class MachineUnknownError(HostError):
    """This machine has no readable id, so it may or may not be the host. The operator must fix that."""


class ProgramMissingError(HostError):
    """The host has no `drivetest`; the operator has to build or install it."""

    retry = False


class DeviceUnknownError(HostError):
    """The host cannot identify the device, so nothing may be written to it."""

    retry = False
    ends_in = State.REFUSED


class FileExistsOnHostError(HostError):
    """A file that was to be created exists already. It is not changed."""

    retry = False
    ends_in = State.REFUSED


class StartRefusedError(HostError):
    """The host refuses to start the program: the drive is busy, or the generation is outdated."""

    retry = False
    ends_in = State.REFUSED


class StartFailedError(HostError):
    """The host could not start the program."""

    retry = False


class FileMissingError(HostError):
    """A file of a run that was started is missing."""

    retry = False
    ends_in = State.LOST
