"""The ids that each line of the log carries: of the request, submission, reading, dispatch and host at work.

Code binds an id where it begins to work on something. The formatters of webapp/logs add the bound ids to each line.
Each thread and each task starts without ids.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

# In the order in which a line shows them.
NAMES = ("request", "task", "submission", "reading", "draft_reading", "dispatch", "host")
_bound: ContextVar[Mapping[str, str]] = ContextVar("drivecert_log_ids", default=MappingProxyType({}))


def log_ids() -> Mapping[str, str]:
    """Return the bound ids by name, in the order of NAMES."""
    bound = _bound.get()
    return {name: bound[name] for name in NAMES if name in bound}


@contextmanager
def bound(**ids: object) -> Iterator[None]:
    """Add ids to the lines of a block. Other ids stay bound; a name that is unknown is a mistake of the caller."""
    if unknown := ids.keys() - set(NAMES):
        raise ValueError(f"ids of a log line: expected {', '.join(NAMES)}, got {', '.join(sorted(unknown))}")
    token = _bound.set({**_bound.get(), **{name: str(value) for name, value in ids.items()}})
    try:
        yield
    finally:
        _bound.reset(token)


def bind_until_the_end(**ids: object) -> None:
    """Add ids to the lines of the rest of the surrounding block, for what a request learns on its way.

    Without a surrounding block nothing would remove them, so that nothing is added.
    """
    if _bound.get():
        _bound.set({**_bound.get(), **{name: str(value) for name, value in ids.items()}})
