"""Traces as a real receiver of OTLP gets them."""

import json
import logging
import socket
import subprocess
import sys
import time
from datetime import timedelta

import pytest
from celery import shared_task
from celery.signals import before_task_publish
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.utils import timezone

from results.ingest.queue import sweep
from results.logs import tracing
from results.logs.context import bound
from results.models import Reading
from results.tasks import read_evidence
from runners.models.states import State
from tests.register import ROOT
from tests.results.builders import log_bytes
from tests.results.fixtures import evidence_dir, no_broker, program, stand_in
from tests.runners.lab import a_lab, connect, device, dispatch, fake, in_state, new_dispatch, poll_all, running
from tests.web_server import web_server
from tests.webapp.people import as_user, exemplar, vera
from tests.webapp.tracing.receiver import attributes, receiving
from webapp.accounts.tokens.rules import issue_token
from webapp.logs.formatting import JSONFormatter, LineFormatter
from webapp.tracing import tracer as tracer_module
from webapp.tracing.models import RowTrace
from webapp.tracing.setup import start_tracing
from webapp.tracing.tasks import remove_old

__all__ = [
    "a_lab", "as_user", "connect", "device", "dispatch", "evidence_dir", "exemplar", "fake", "in_state", "new_dispatch",
    "no_broker", "program", "running", "stand_in", "vera",
]  # fmt: skip

SAMPLED = 1  # of the flags of W3C Trace Context
FAILED = 2  # of the status codes of OTLP


@pytest.fixture
def script(vera, exemplar):
    """Send requests as a script of Exemplar does."""
    _, secret = issue_token(vera, exemplar, "script")
    return Client(headers={"Authorization": f"Bearer {secret}"})


@pytest.fixture
def receiver():
    with receiving() as found:
        yield found


@pytest.fixture
def traced(settings, receiver, db):
    """Trace this process, and return a function that sends what has ended."""
    settings.OTEL_EXPORTER_OTLP_ENDPOINT, settings.OTEL_EXPORTER_OTLP_HEADERS = receiver.url, "x-key=a%20secret"
    tracer_module.collector_tracer.cache_clear()
    start_tracing()
    tracer = tracer_module.collector_tracer()
    tracer.trace_queries(connection)
    yield tracer.provider.force_flush
    tracing.install(None)
    connection.execute_wrappers.clear()
    tracer.provider.shutdown()


@pytest.fixture
def messages():
    """Collect the headers of the messages to the broker by the names of their tasks."""
    found = {}

    def collect(sender=None, headers=None, **_):
        found[sender] = dict(headers)

    before_task_publish.connect(collect)
    yield found
    before_task_publish.disconnect(collect)


def submit(client, content):
    log = SimpleUploadedFile("secret-drive.log", content)
    stated = {"vendor": "Exemplar", "model": "EX4", "category": "nvme-flash", "slice_length_s": "10"}
    return client.post("/api/v1/submissions/", stated | {"log": log}).json()["id"]


@pytest.mark.parametrize("is_lost", [pytest.param(False, marks=pytest.mark.django_db(transaction=True)), True])
@pytest.mark.usefixtures("evidence_dir", "stand_in")
def test_a_request_its_submission_and_the_reading_are_one_trace(traced, receiver, messages, script, is_lost):
    submission = submit(script, log_bytes("slow-disk-ms"))
    reading = Reading.objects.get()
    if is_lost:
        sweep()  # the message to the broker was lost: the row has the trace
    else:
        headers = {"traceparent": messages["runners.read_evidence"]["traceparent"]}
        read_evidence.apply(args=(reading.pk,), headers=headers)
    assert Reading.objects.get().state == Reading.State.DONE
    traced()
    request, read = receiver.named("POST api-submission-list"), receiver.named("reading")
    assert read.trace_id == request.trace_id
    assert {attributes(span)["drivecert.submission"] for span in (request, read)} == {submission}
    assert attributes(read)["drivecert.reading"] == str(reading.pk)
    program = receiver.named("drivetest read")
    assert (program.parent_span_id, program.trace_id) == (read.span_id, read.trace_id)
    if not is_lost:
        assert receiver.named("runners.read_evidence").span_id == read.parent_span_id


def test_an_order_its_run_and_the_reading_of_its_log_are_one_trace(
    traced, receiver, new_dispatch, fake, connect, stand_in
):
    with tracing.started("order"):
        dispatch = new_dispatch()
    poll_all(connect)
    fake.write_log(dispatch.public_id)
    fake.end(dispatch.public_id, 0)
    poll_all(connect)
    dispatch.refresh_from_db()
    assert dispatch.state == State.DONE
    sweep()
    traced()
    order, read = receiver.named("order"), receiver.named("reading")
    polls = [span for span in receiver.spans if span.name == "poll"]
    assert {span.trace_id for span in [*polls, read]} == {order.trace_id}
    changes = [event.name for span in polls for event in span.events]
    assert (changes[0], changes[-1]) == ("queued -> claimed", "collecting -> done")
    assert {attributes(span)["drivecert.dispatch"] for span in polls} == {dispatch.public_id}


def test_a_poll_without_a_change_is_not_sent(traced, receiver, running, connect):
    with tracing.started("order"):
        tracing.store_trace(tracing.DISPATCH, running.pk)
    poll_all(connect)
    traced()
    receiver.named("order")
    assert [span.name for span in receiver.spans if span.name == "poll"] == []


def test_spans_have_ids_routes_and_codes_but_no_names_and_no_text(traced, receiver, script, exemplar, evidence_dir):
    answer = script.get(
        "/organisations/a-vendor-name/?q=words", headers={"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"}
    )
    submit(script, b"a log of Exemplar")
    with pytest.raises(LookupError), tracing.started("broken"), tracing.span("part"):
        raise LookupError("Exemplar is missing")
    traced()
    sent = receiver.named("POST api-submission-list")
    assert attributes(sent) == {
        "http.request.method": "POST",
        "http.route": "api/v1/submissions/",
        "http.response.status_code": "201",
        "drivecert.request": attributes(sent)["drivecert.request"],
        "drivecert.submission": attributes(sent)["drivecert.submission"],
    }
    assert attributes(receiver.named("INSERT results_submission")) == {
        "db.system.name": "postgresql", "db.operation.name": "INSERT", "db.collection.name": "results_submission"
    }  # fmt: skip
    assert attributes(receiver.named("broken")) == {"error.type": "LookupError"}
    text = json.dumps([[span.name, attributes(span), [event.name for event in span.events]] for span in receiver.spans])
    for private in ("Exemplar", "EX4", "secret-drive", exemplar.slug, exemplar.name, "vendor-name", "words"):
        assert private not in text
    assert "a" * 32 not in {span.trace_id.hex() for span in receiver.spans}, "a client chose the trace of its request"
    assert answer.headers["X-Request-ID"]
    assert set(receiver.resources[0]) == {
        "service.name",
        "service.instance.id",
        "telemetry.sdk.language",
        "telemetry.sdk.name",
        "telemetry.sdk.version",
    }
    assert receiver.headers[0]["x-key"] == "a secret"


def test_lines_of_the_log_have_the_ids_of_their_trace(traced, receiver):
    record = logging.makeLogRecord({"msg": "late"})
    with bound(request="r1"), tracing.started("work"):
        line, text = json.loads(JSONFormatter().format(record)), LineFormatter("%(message)s").format(record)
    traced()
    span = receiver.named("work")
    assert (line["trace_id"], line["span_id"]) == (span.trace_id.hex(), span.span_id.hex())
    assert text == f"late [request=r1 trace_id={line['trace_id']} span_id={line['span_id']}]"
    assert "trace_id" not in json.loads(JSONFormatter().format(record))


def test_no_share_of_requests_sends_nothing(settings, traced, receiver):
    tracing.install(None)
    settings.OTEL_TRACES_SAMPLER_ARG = 0.0
    tracer_module.collector_tracer.cache_clear()
    start_tracing()
    with tracing.started("work"):
        assert int(tracing.traceparent()[-2:], 16) & SAMPLED == 0
        tracing.store_trace(tracing.READING, 1)
    assert not RowTrace.objects.exists()
    tracer_module.collector_tracer().provider.shutdown()
    assert receiver.spans == []


@pytest.mark.django_db
def test_old_traces_of_rows_are_removed_also_without_a_collector():
    old = [RowTrace.objects.create(kind="reading", row_id=number, traceparent="x") for number in (1, 2)]
    RowTrace.objects.filter(pk=old[0].pk).update(created_at=timezone.now() - timedelta(days=31))
    remove_old()
    assert list(RowTrace.objects.values_list("row_id", flat=True)) == [2]


def test_a_task_that_fails_has_a_failed_span(traced, receiver):
    @shared_task(name="tests.failing")
    def fail():
        raise LookupError("text of a user")

    with tracing.started("work"):
        fail.apply(headers={"traceparent": tracing.traceparent()})
    traced()
    span = receiver.named("tests.failing")
    assert (span.status.code, attributes(span)["error.type"]) == (FAILED, "LookupError")
    assert "text of a user" not in str(span)


WITHOUT = """
import sys
import webapp.wsgi, webapp.celery
from webapp.celery import end_with_worker
from webapp.tracing.setup import start_tracing
start_tracing()
assert not [name for name, module in sys.modules.items() if name.startswith("opentelemetry") and module]
"""


def test_nothing_is_imported_without_a_collector():
    environment = {"DJANGO_SETTINGS_MODULE": "webapp.settings"}
    subprocess.run([sys.executable, "-c", WITHOUT], cwd=ROOT, env=environment, check=True, timeout=60)


@pytest.mark.parametrize("value", ["collector:4318", "ftp://collector", "http://collector/?x=1"])
def test_an_address_that_is_none_is_refused(value):
    done = subprocess.run(
        [sys.executable, "-c", "import webapp.settings"],
        cwd=ROOT, env={"OTEL_EXPORTER_OTLP_ENDPOINT": value}, capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert b"OTEL_EXPORTER_OTLP_ENDPOINT: expected https://name" in done.stderr


@pytest.mark.parametrize("value", ["-0.1", "1.1", "half"])
def test_a_share_that_is_none_is_refused(value):
    done = subprocess.run(
        [sys.executable, "-c", "import webapp.settings"],
        cwd=ROOT, env={"OTEL_TRACES_SAMPLER_ARG": value}, capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert b"OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1" in done.stderr


@pytest.mark.django_db(transaction=True)
def test_a_collector_that_never_answers_delays_no_request(tmp_path):
    """It accepts connections and says nothing, which is worse than one that refuses them."""
    with socket.create_server(("127.0.0.1", 0), backlog=1) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with web_server(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=url, OTEL_BSP_SCHEDULE_DELAY="50") as server:
            request = b"GET /about/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            assert "200" in server.status_of(request)
            sender, _ = silent.accept()  # the process tries to send
            with sender:
                started = time.monotonic()
                assert all("200" in server.status_of(request) for _ in range(20))
                assert time.monotonic() - started < 20 * tracer_module.EXPORT_TIMEOUT_S  # if each waited for it
