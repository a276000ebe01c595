"""A tracer of OpenTelemetry: spans of requests, tasks, rows and queries, sent to a collector over OTLP/HTTP.

A span has no text of users and no name of an organisation, product or host: its attributes are the ids of the log,
HTTP methods, routes, codes, numbers, operations and tables of SQL, and classes of errors (docs/decisions/0032).

Spans are sent by a thread of their own. While the collector does not answer, they are dropped: no request waits.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db.backends.signals import connection_created
from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.re import parse_env_headers

from results.logs.context import log_ids
from results.logs.tracing import Span, is_tracing
from webapp.tracing.models import RowTrace

EXPORT_TIMEOUT_S = 3  # of a batch; a silent collector delays the end of a process by this for each queued batch
QUEUED_SPANS_MAX, BATCH_SPANS_MAX = 4096, 2048  # of a process; spans beyond the queue are dropped
HEADER = "traceparent"
PREFIX = "drivecert."
STATEMENT_CHARS = 2000  # of a query, searched for its first table
TABLE = re.compile(r"(?:FROM|INTO|UPDATE)\s+\"?(\w+)")

_propagator = TraceContextTextMapPropagator()


class _Poll:
    """A block whose span is sent only if something changes in it."""

    def __init__(self) -> None:
        self.changes: list[tuple[str, int]] = []


_poll: ContextVar[_Poll | None] = ContextVar("drivecert_traced_poll", default=None)


class SentSpan(Span):
    """A span of OpenTelemetry."""

    def __init__(self, span: trace.Span) -> None:
        self.span = span

    def describe(self, name: str = "", **values: str | int) -> None:
        """Name the span and add values to it."""
        if name:
            self.span.update_name(name)
        for key, value in values.items():
            self.span.set_attribute(key.replace("__", "."), value)

    def fail(self, error: str) -> None:
        """Mark the span as failed. The message of an exception may have text of users: it is not sent."""
        self.span.set_status(trace.StatusCode.ERROR)
        self.span.set_attribute("error.type", error)


class CollectorTracer:
    """A results.logs.tracing.Tracer."""

    def __init__(self, provider: TracerProvider) -> None:
        self.provider = provider
        self.tracer = provider.get_tracer("drivecert")
        self._stored = lru_cache(maxsize=10_000)(_stored_trace)  # of dispatches, which never get another one

    @contextmanager
    def started(self, name: str, traceparent: str | None) -> Iterator[Span]:
        """Run a block in a span that continues another process, or begins a trace."""
        kind = trace.SpanKind.CONSUMER if traceparent else trace.SpanKind.SERVER
        with self._running(name, _context_of(traceparent or ""), kind) as span:
            yield span

    @contextmanager
    def span(self, name: str) -> Iterator[Span]:
        """Run a block in a span inside the current one."""
        if not _is_traced() or _poll.get():
            yield Span()
            return
        with self._running(name, None) as span:
            yield span

    @contextmanager
    def continued(self, name: str, kind: str, row_id: int, *, only_changes: bool) -> Iterator[Span]:
        """Run a block in a span of the row's trace; without a trace of the row, in the current one."""
        if only_changes:
            with self._polling(name, self._stored(kind, row_id)) as span:
                yield span
            return
        # A message of the broker brought the trace of its request. Without one, a sweep found the row.
        stored = "" if _is_traced() else _stored_trace(kind, row_id)
        parent = _context_of(stored) if stored else None
        with self._running(name, parent) if stored or _is_traced() else _untraced() as span:
            yield span

    def store(self, kind: str, row_id: int) -> None:
        """Store the current trace for a row."""
        if trace.get_current_span().get_span_context().trace_flags.sampled:
            RowTrace.objects.update_or_create(kind=kind, row_id=row_id, defaults={HEADER: self.traceparent()})

    def note_change(self, code: str) -> None:
        """Add a change of state to the current span."""
        if poll := _poll.get():
            poll.changes.append((code, time.time_ns()))
        else:
            trace.get_current_span().add_event(code)

    def traceparent(self) -> str:
        """Return the current span in the form of W3C Trace Context."""
        carrier: dict[str, str] = {}
        _propagator.inject(carrier)
        return carrier.get(HEADER, "")

    def ids(self) -> Mapping[str, str]:
        """Return the ids of the current span."""
        current = trace.get_current_span().get_span_context()
        if not current.is_valid:
            return {}
        return {"trace_id": trace.format_trace_id(current.trace_id), "span_id": trace.format_span_id(current.span_id)}

    def trace_queries(self, connection: Any, **_: Any) -> None:
        """Make the queries of a connection spans. The wrappers stay when Django connects again."""
        if self._query_span not in connection.execute_wrappers:
            connection.execute_wrappers.append(self._query_span)

    def _query_span(self, execute: Callable[..., Any], sql: Any, *rest: Any) -> Any:
        """Run a query in a span that names its operation and table. It has neither its text nor its values."""
        if not is_tracing() or not _is_traced() or _poll.get():
            return execute(sql, *rest)
        operation, table = _operation_and_table(str(sql)[:STATEMENT_CHARS])
        attributes = {"db.system.name": "postgresql", "db.operation.name": operation, "db.collection.name": table}
        with self.tracer.start_as_current_span(
            f"{operation} {table}".strip() or "query",
            kind=trace.SpanKind.CLIENT,
            attributes={name: value for name, value in attributes.items() if value},
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                return execute(sql, *rest)
            except Exception as error:
                SentSpan(span).fail(type(error).__name__)
                raise

    @contextmanager
    def _running(
        self, name: str, parent: otel_context.Context | None, kind: trace.SpanKind = trace.SpanKind.INTERNAL
    ) -> Iterator[Span]:
        """Run a block in a span, with the ids that are bound at its end."""
        own = self.tracer.start_span(name, parent, kind, record_exception=False, set_status_on_exception=False)
        span = SentSpan(own)
        with trace.use_span(own, end_on_exit=True, record_exception=False, set_status_on_exception=False):
            try:
                yield span
            except BaseException as error:
                span.fail(type(error).__name__)
                raise
            finally:
                own.set_attributes({PREFIX + id_name: value for id_name, value in log_ids().items()})

    @contextmanager
    def _polling(self, name: str, stored: str) -> Iterator[Span]:
        """Run a block inside the context of the row. Afterwards send one span if something changed in the block."""
        poll, began_ns = _Poll(), time.time_ns()
        token = otel_context.attach(_context_of(stored)) if stored else None
        poll_token = _poll.set(poll)
        try:
            yield Span()
        finally:
            _poll.reset(poll_token)
            if poll.changes and _is_traced():
                ids: dict[str, str] = {PREFIX + id_name: value for id_name, value in log_ids().items()}
                own = self.tracer.start_span(name, start_time=began_ns, attributes=ids)
                for code, at_ns in poll.changes:
                    own.add_event(code, timestamp=at_ns)
                own.end()
            if token is not None:
                otel_context.detach(token)


@contextmanager
def _untraced() -> Iterator[Span]:
    yield Span()


@cache
def collector_tracer() -> CollectorTracer:
    """Return the tracer of this process, which sends spans to the collector of the settings."""
    share = TraceIdRatioBased(settings.OTEL_TRACES_SAMPLER_ARG)
    provider = TracerProvider(
        resource=Resource.create({SERVICE_NAME: settings.OTEL_SERVICE_NAME}), sampler=ParentBased(share)
    )
    exporter = OTLPSpanExporter(
        endpoint=f"{settings.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces",
        headers=parse_env_headers(settings.OTEL_EXPORTER_OTLP_HEADERS, liberal=True),
        timeout=EXPORT_TIMEOUT_S,
    )
    provider.add_span_processor(
        BatchSpanProcessor(exporter, max_queue_size=QUEUED_SPANS_MAX, max_export_batch_size=BATCH_SPANS_MAX)
    )
    tracer = CollectorTracer(provider)
    connection_created.connect(tracer.trace_queries, dispatch_uid="trace-queries", weak=False)
    return tracer


def _stored_trace(kind: str, row_id: int) -> str:
    return RowTrace.objects.filter(kind=kind, row_id=row_id).values_list(HEADER, flat=True).first() or ""


def _context_of(traceparent: str) -> otel_context.Context:
    """Return a context with the stated span of another process; an empty one for none, or for text that is no span."""
    return _propagator.extract({HEADER: traceparent}, otel_context.Context())


def _is_traced() -> bool:
    return bool(trace.get_current_span().get_span_context().is_valid)


@cache
def _tables() -> frozenset[str]:
    return frozenset(model._meta.db_table for model in apps.get_models(include_auto_created=True))


@lru_cache(maxsize=1000)
def _operation_and_table(statement: str) -> tuple[str, str]:
    """Return the first word of a statement, and the first table of the register that it names."""
    operation = statement.lstrip("( \n").partition(" ")[0].strip().upper()
    named = (match.group(1) for match in TABLE.finditer(statement))
    return operation if operation.isalpha() else "", next((name for name in named if name in _tables()), "")
