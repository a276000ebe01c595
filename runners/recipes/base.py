"""Recipes and their stages. A stage is a program that runs once on one host, in a run directory of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from runners.hosts.protocol import LabHost, ProgramStatus
from runners.models import Dispatch
from runners.models.dispatch import CONSENT_OPTION


class Role(StrEnum):
    """The role of a host: the drive is in the database host, the requests come from the load host."""

    DATABASE = "database"
    LOAD = "load"


@dataclass(frozen=True)
class Stage:
    """A program with its files. `argv` are drivetest's arguments; paths are relative to the run directory.

    `name` is unique in a recipe. It is empty if the recipe is a single program: the run directory is then the
    dispatch's own. `is_cleanup`: the stage also runs after an earlier stage failed or was stopped, and a cancel does
    not stop it. `limit_s` is how long the program may take; it is stopped some time after that. `is_measured`: its
    standard output is a log. `resets_drive`: after it the drive is no longer prepared.
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
    """Return the run directory of a stage: the dispatch's id, with the stage's name after a dot if it has one."""
    return f"{public_id}.{stage.name}" if stage.name else public_id


def consent(options: Mapping[str, Any]) -> list[str]:
    """Return the flag that allows recognised data to be overwritten, where the order gives consent.

    At the start the register compares the data on the drive with what the order form showed
    (runners/inventory/safety.py).
    """
    return ["--i-know-this-destroys-data"] if options.get(CONSENT_OPTION) else []


class Recipe(Protocol):
    """The interface of a recipe."""

    @property
    def LABEL(self) -> str:  # noqa: N802 - a constant where the recipe is a module
        """The name of the workload on pages."""

    def stages(self, dispatch: Dispatch) -> tuple[Stage, ...]:
        """Return the stages in order; always the same for a dispatch."""

    def progress(self, dispatch: Dispatch, host: LabHost, run: str, status: ProgramStatus) -> dict[str, Any]:
        """Return the columns of the dispatch that change as a run directory's files grow, for the live page only.

        Return an empty dictionary if nothing is new.
        """

    def collect(self, dispatch: Dispatch, host: LabHost) -> dict[str, Any]:
        """Bring the results into the register, and return them as columns of the dispatch. Repeatable.

        Raise TooLargeError if the intake refuses them, and FileMissingError if the host lost a file.
        """
