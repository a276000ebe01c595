"""Recipes and their stages. A stage is a program that runs once on one host, in a run directory of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from runners.hosts.protocol import LabHost, ProgramStatus
from runners.models import Dispatch
from runners.models.dispatch import DESTROY


class Role(StrEnum):
    """What a host is to a dispatch: the drive is in the database's host, the requests come from the load's."""

    DATABASE = "database"
    LOAD = "load"


@dataclass(frozen=True)
class Stage:
    """A program with its files. `argv` is drivetest's arguments; paths count from the run directory.

    `name` is unique in a recipe; it is empty where the recipe is a single program: its run directory is then the
    dispatch's own. `is_cleanup`: it is run also after a stage before it failed or was stopped, and is not stopped.
    `limit_s` is how long its program may take; it is asked to end some time after that, a clean-up too.
    `is_measured`: its standard output is a log. `resets_drive`: after it the drive is not prepared any more.
    """

    name: str
    argv: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    role: Role = Role.DATABASE
    is_cleanup: bool = False
    is_measured: bool = False
    resets_drive: bool = False
    limit_s: int | None = None


YCSB = "ycsb"  # the name of the recipe that has stages on two hosts


def run_of(public_id: str, stage: Stage) -> str:
    """Return the name of a stage's run directory: the dispatch's own, with the stage's after a dot where it has one."""
    return f"{public_id}.{stage.name}" if stage.name else public_id


def consent(dispatch: Dispatch) -> list[str]:
    """Return the flag that allows recognised data to be overwritten, where the order gives consent.

    At the start the register compares the data on the drive with what the order form showed
    (runners/inventory/safety.py).
    """
    return ["--i-know-this-destroys-data"] if dispatch.options.get(DESTROY) else []


class Recipe(Protocol):
    """The interface of a recipe."""

    @property
    def LABEL(self) -> str:  # noqa: N802 - a constant where the recipe is a module
        """The name of the workload on pages."""
        ...

    def stages(self, dispatch: Dispatch) -> tuple[Stage, ...]:
        """Return the stages in order; always the same for a dispatch."""
        ...

    def progress(self, dispatch: Dispatch, host: LabHost, run: str, status: ProgramStatus) -> dict[str, Any]:
        """Return the columns of the dispatch that change as a run directory's files grow, for the live page only.

        Return an empty dictionary if nothing is new.
        """
        ...

    def collect(self, dispatch: Dispatch, host: LabHost) -> dict[str, Any]:
        """Bring the results into the register, and return them as columns of the dispatch. Repeatable.

        Raise TooLargeError if the intake refuses them, and FileMissingError if the host lost a file.
        """
        ...
