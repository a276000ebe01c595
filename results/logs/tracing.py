"""Traces: what a request causes, also in other processes. Without a tracer, each function does nothing.

webapp/tracing installs a tracer if the settings name a collector. The queue is a table, so a row has the trace of the
request that made it (`store_trace`), and the process that works on the row continues that trace (`continued`).
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import MappingProxyType
from typing import Protocol

READING, DRAFT_READING, DISPATCH = "reading", "draft_reading", "dispatch"  # the kinds of rows that have a trace
NO_IDS: Mapping[str, str] = MappingProxyType({})


class Span:
    """A step of a trace. This one is sent nowhere."""

    def describe(self, name: str = "", **values: str | int) -> None:
        """Name the span and add values to it: codes, numbers and ids, never names or text of users."""

    def fail(self, error: str) -> None:
        """Mark the span as failed, with the code or class of the error."""


NO_SPAN = Span()


class Tracer(Protocol):
    """What this module needs of a tracer."""

    def started(self, name: str, traceparent: str | None) -> AbstractContextManager[Span]:
        """Run a block in a new span, which continues `traceparent`; None: the span begins a trace."""
        ...

    def span(self, name: str) -> AbstractContextManager[Span]:
        """Run a block in a span inside the current one; without a current one there is none."""
        ...

    def continued(self, name: str, kind: str, row_id: int, *, only_changes: bool) -> AbstractContextManager[Span]:
        """Run a block in a span of the trace of the row."""
        ...

    def store(self, kind: str, row_id: int) -> None:
        """Store the current trace for a row."""
        ...

    def note_change(self, code: str) -> None:
        """Add a change of state to the current span."""
        ...

    def traceparent(self) -> str:
        """Return the current span in the form of W3C Trace Context; empty without one."""
        ...

    def ids(self) -> Mapping[str, str]:
        """Return `trace_id` and `span_id` of the current span."""
        ...


class _Installed:
    tracer: Tracer | None = None


def install(tracer: Tracer | None) -> None:
    """Use a tracer for this process; None: no tracer."""
    _Installed.tracer = tracer


def is_tracing() -> bool:
    """Return whether this process has a tracer."""
    return _Installed.tracer is not None


def started(name: str, traceparent: str | None = None) -> AbstractContextManager[Span]:
    """Run a block in a span that continues the work of another process, or begins a trace."""
    tracer = _Installed.tracer
    return tracer.started(name, traceparent) if tracer else nullcontext(NO_SPAN)


def span(name: str) -> AbstractContextManager[Span]:
    """Run a block in a span inside the current one."""
    tracer = _Installed.tracer
    return tracer.span(name) if tracer else nullcontext(NO_SPAN)


@contextmanager
def continued(name: str, kind: str, row_id: int, *, only_changes: bool = False) -> Iterator[Span]:
    """Run a block that works on a row in a span of the row's trace.

    `only_changes`: without `note_change` in the block, the span is not sent. A dispatch is polled every
    WATCH_PERIOD_S, and most polls change nothing.
    """
    tracer = _Installed.tracer
    if tracer is None:
        yield NO_SPAN
        return
    with tracer.continued(name, kind, row_id, only_changes=only_changes) as found:
        yield found


def store_trace(kind: str, row_id: int) -> None:
    """Store the trace of the present work for a row, in its transaction."""
    if tracer := _Installed.tracer:
        tracer.store(kind, row_id)


def note_change(code: str) -> None:
    """Add a change of state to the current span."""
    if tracer := _Installed.tracer:
        tracer.note_change(code)


def traceparent() -> str:
    """Return the current span for a message to another process; empty without one."""
    return tracer.traceparent() if (tracer := _Installed.tracer) else ""


def trace_ids() -> Mapping[str, str]:
    """Return the ids of the current trace and span for a line of the log."""
    return tracer.ids() if (tracer := _Installed.tracer) else NO_IDS
