"""Recipes: one module per workload, saying what is sent to the host, run there and collected."""

from typing import Any, Protocol

from runners.hosts.protocol import LabHost, ProgramStatus
from runners.models import Dispatch
from runners.recipes import act_index, act_storage, prep, ycsb
from runners.recipes.stage import Stage


class Recipe(Protocol):
    """What a module of this package says. `LABEL` names the workload to people."""

    LABEL: str

    def stages(self, dispatch: Dispatch) -> tuple[Stage, ...]:
        """Return what is run, in order; always the same for a dispatch."""
        ...

    def progress(self, dispatch: Dispatch, host: LabHost, run: str, status: ProgramStatus) -> dict[str, Any]:
        """Return the columns of the dispatch that change as a run directory's files grow, for the live page only.

        None where nothing is new.
        """
        ...

    def hand_in(self, dispatch: Dispatch, host: LabHost) -> dict[str, Any]:
        """Take what was left into the register, and return it as columns of the dispatch; repeatable.

        Raises TooLargeError where the one door does, and FileMissingError where the host lost what it had.
        """
        ...


RECIPES: dict[str, Recipe] = {
    "prep": prep,
    "act-storage": act_storage,
    "act-index": act_index,
    "ycsb": ycsb,
}
