"""Ids and traces of tasks: the name of the task, and the request that enqueued it."""

from contextlib import ExitStack
from typing import Any

from celery import states
from celery.signals import before_task_publish, task_postrun, task_prerun

from results.logs.context import bound, log_ids
from results.logs.tracing import NO_SPAN, Span, started, traceparent

HEADER = "drivecert_request"
TRACE_HEADER = "traceparent"
_running: dict[str, tuple[ExitStack, Span]] = {}


@before_task_publish.connect
def send_request_id(headers: dict[str, Any] | None = None, **_: Any) -> None:
    """Add the id and the trace of the current request to the headers of a task."""
    request_id = log_ids().get("request")
    if request_id and headers is not None:
        headers[HEADER] = request_id
    if (trace := traceparent()) and headers is not None:
        headers[TRACE_HEADER] = trace


@task_prerun.connect
def bind_ids(task_id: str = "", task: Any = None, **_: Any) -> None:
    """Bind the ids of a task when it starts, and continue the trace that enqueued it. A periodic task has none."""
    ids = {"task": task.name}
    # A worker has the headers of a message as attributes of the request; a task that is run at once has them apart.
    if request_id := _header(task, HEADER):
        ids["request"] = str(request_id)[:64]
    stack, span = ExitStack(), NO_SPAN
    stack.enter_context(bound(**ids))
    if trace := _header(task, TRACE_HEADER):
        span = stack.enter_context(started(task.name, str(trace)))
    _running[task_id] = stack, span


@task_postrun.connect
def unbind_ids(task_id: str = "", state: str = "", retval: Any = None, **_: Any) -> None:
    """Remove the ids of a task when it has ended, and mark its span if it raised an exception."""
    stack, span = _running.pop(task_id, (ExitStack(), NO_SPAN))
    if state == states.FAILURE:
        span.fail(type(retval).__name__)
    stack.close()


def _header(task: Any, name: str) -> Any:
    return task.request.get(name) or (task.request.headers or {}).get(name)
