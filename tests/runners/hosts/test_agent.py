"""Requests to agent hosts over a real register: a web server, the process of waiting clients, and PostgreSQL."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now

from runners.errors import HostUnavailableError
from runners.hosts import connect
from runners.hosts.agent import delete_abandoned
from runners.hosts.wire import ANSWER_BYTES_MAX
from runners.inventory.agents import enrol_agent_host, join, revoke
from runners.models import AgentExchange, Host
from tests.register import wait_for
from tests.runners.hosts.stand_in_agent import StandInAgent
from tests.web_server import PATIENCE_S

pytestmark = [pytest.mark.long, pytest.mark.django_db(transaction=True)]
HEALTHY = {"boot_id": "b-1"}


def respond(requests, document=HEALTHY):
    """Return what `drivetest host` answers, with the same document for each request."""
    response = json.dumps({"ok": document, "bytes": 0, "worked_ms": 0}).encode() + b"\n"
    return response * requests.count(b"\n")


@pytest.fixture
def new_agent(register):
    """Enrol a host, and return it with an agent that has joined."""

    def make(name="lab-9", serve=respond):
        agent = StandInAgent(*register, serve)
        _, code = enrol_agent_host(name, None)
        join(code, agent.secret_sha256, agent.program_sha256, "0.0.0")
        return Host.objects.get(name=name), agent

    return make


def waiting_exchange(host):
    """Return the one exchange of a host, once a worker has stored it."""
    wait_for(lambda: AgentExchange.objects.filter(host=host).exists(), str, PATIENCE_S)
    return AgentExchange.objects.get(host=host)


@pytest.fixture
def in_thread():
    """Call a function in a thread of its own, with its own connection, as a worker does."""

    def called(function):
        try:
            return function()
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        yield lambda function: pool.submit(called, function)


def test_an_agent_joins_over_http_and_the_response_may_be_lost(register):
    agent, (host, code) = StandInAgent(*register, respond), enrol_agent_host("lab-9", None)
    assert agent.join("dcj_unknown")[0] == 403
    joined = {"agent": host.agent.public_id, "host": "lab-9", "live_url": f"http://127.0.0.1:{register[1]}"}
    assert [agent.join(code), agent.join(code)] == [(201, joined), (201, joined)]
    nothing = {"agent": host.agent.public_id, "program_sha256": agent.program_sha256, "exchanges": []}
    assert agent.exchanges() == (200, nothing | {"answer_within_s": 20})
    status, problem = StandInAgent(*register, respond).join(code)
    assert (status, problem["code"]) == (403, "join-refused")
    assert "Print a new command" in problem["detail"]


def test_an_exchange_is_answered_and_its_row_is_gone(new_agent):
    host, agent = new_agent()
    lab_host = connect(host)
    with agent.running():
        assert lab_host.boot_ids() == ("b-1",)
        assert lab_host.boot_ids() == ("b-1",)
    assert agent.answers == [204, 204]
    assert not AgentExchange.objects.exists()
    assert lab_host.timer.longest_unexplained() is not None
    assert lab_host.timer.last_byte_at is not None


def test_without_an_answer_in_time_the_host_is_unavailable_and_the_row_is_gone(new_agent, settings):
    settings.HOST_ANSWER_TIMEOUT_S = 1
    host, agent = new_agent()
    with pytest.raises(HostUnavailableError, match=r"lab-9: no answer within 1 s; its agent has sent no request yet"):
        connect(host).boot_ids()
    assert not AgentExchange.objects.exists()
    assert agent.exchanges()[1]["exchanges"] == []
    with pytest.raises(HostUnavailableError, match="its agent last sent a request on"):
        connect(host).boot_ids()


def test_a_late_answer_is_refused_and_the_next_exchange_is_not_taken_for_it(new_agent, settings, in_thread):
    settings.HOST_ANSWER_TIMEOUT_S = 1
    host, agent = new_agent()
    late = in_thread(connect(host).boot_ids)
    exchange = waiting_exchange(host)
    with pytest.raises(HostUnavailableError):
        late.result()
    assert agent.answer(exchange.public_id, respond(b"\n")) == 410
    settings.HOST_ANSWER_TIMEOUT_S = 20
    with agent.running():
        assert connect(host).boot_ids() == ("b-1",)


def test_the_notification_of_another_exchange_is_not_taken_for_an_answer(new_agent, settings):
    """An answer at the very end of the wait leaves a notification on the connection."""
    host, agent = new_agent()
    with connection.cursor() as cursor:
        cursor.execute('LISTEN "drivecert_answer_x-22222222"')
        cursor.execute("SELECT pg_notify('drivecert_answer_x-22222222', '')")
    with agent.running():
        assert connect(host).boot_ids() == ("b-1",)


def test_an_answer_may_be_sent_again_until_its_worker_has_it(new_agent):
    host, agent = new_agent()
    exchange = AgentExchange.objects.create(host=host, payload=b"{}\n", expires_at=Now() + timedelta(minutes=1))
    assert agent.answer(exchange.public_id, b"first") == 204
    assert agent.answer(exchange.public_id, b"second") == 204
    exchange.refresh_from_db()
    assert bytes(exchange.answer) == b"first"


def test_an_expired_exchange_is_never_handed_out_and_takes_no_answer(new_agent):
    host, agent = new_agent()
    AgentExchange.objects.create(host=host, payload=b"old\n", expires_at=Now())
    fresh = AgentExchange.objects.create(host=host, payload=b"new\n", expires_at=Now() + timedelta(minutes=1))
    status, document = agent.exchanges()
    assert (status, [each["id"] for each in document["exchanges"]]) == (200, [fresh.public_id])
    assert agent.answer(AgentExchange.objects.first().public_id, b"") == 410
    assert agent.answer("x-22222222", b"") == 410
    AgentExchange.objects.filter(pk=fresh.pk).update(expires_at=Now())
    assert agent.exchanges()[1]["exchanges"] == []
    assert agent.answer(fresh.public_id, b"") == 410


def test_only_a_new_exchange_or_another_program_answers_a_poll(new_agent):
    host, agent = new_agent()
    first, second = (
        AgentExchange.objects.create(host=host, payload=b"", expires_at=Now() + timedelta(minutes=1)) for _ in range(2)
    )
    status, known, _ = agent.poll("", wait_s=0)
    assert (status, agent.poll(known, wait_s=0)[0]) == (200, 304)
    agent.answer(first.public_id, b"")
    assert agent.poll(known, wait_s=0)[0] == 304
    third = AgentExchange.objects.create(host=host, payload=b"", expires_at=Now() + timedelta(minutes=1))
    status, known, content = agent.poll(known, wait_s=0)
    assert (status, [each["id"] for each in json.loads(content)["exchanges"]]) == (
        200,
        [second.public_id, third.public_id],
    )
    Host.objects.filter(pk=host.pk).update(program_sha256="5e" * 32)
    assert agent.poll(known, wait_s=0)[0] == 200


def test_at_most_16_exchanges_are_handed_out_the_oldest_first(new_agent):
    host, agent = new_agent()
    rows = [AgentExchange(host=host, payload=b"", expires_at=Now() + timedelta(minutes=1)) for _ in range(17)]
    ids = [row.public_id for row in AgentExchange.objects.bulk_create(rows)]
    assert [each["id"] for each in agent.exchanges()[1]["exchanges"]] == ids[:16]


def test_several_workers_share_one_host(new_agent, in_thread):
    def serve(requests):
        asked = [json.loads(line) for line in requests.splitlines()]
        return b"".join(respond(b"\n", [each["drive_key"]]) for each in asked)

    host, agent = new_agent(serve=serve)
    with agent.running():
        found = {key: in_thread(lambda key=key: connect(host).find(key, 1)) for key in ("a", "b", "c", "d")}
        assert {key: future.result() for key, future in found.items()} == {key: [key] for key in "abcd"}


def test_an_agent_neither_reads_nor_answers_the_exchanges_of_another_host(new_agent):
    host, _ = new_agent()
    _, other = new_agent("lab-10")
    exchange = AgentExchange.objects.create(host=host, payload=b"{}\n", expires_at=Now() + timedelta(minutes=1))
    assert other.exchanges()[1]["exchanges"] == []
    assert other.answer(exchange.public_id, b"false") == 410
    exchange.refresh_from_db()
    assert exchange.answer is None


def test_a_revoked_agent_is_woken_and_opens_nothing(new_agent):
    host, agent = new_agent()
    exchange = AgentExchange.objects.create(host=host, payload=b"{}\n", expires_at=Now() + timedelta(minutes=1))
    with agent.running():
        wait_for(lambda: agent.answers == [204], str, PATIENCE_S)
        started = time.monotonic()
        revoke(host, None)
        wait_for(lambda: 401 in agent.polls, lambda: str(agent.polls), PATIENCE_S)
        assert time.monotonic() - started < 45  # a poll waits 50 s if nothing wakes it
    assert agent.exchanges()[0] == 401
    assert agent.answer(exchange.public_id, b"") == 401
    with pytest.raises(HostUnavailableError, match="no agent has joined"):
        connect(host).boot_ids()


@pytest.mark.parametrize(("length", "status"), [(ANSWER_BYTES_MAX, 204), (ANSWER_BYTES_MAX + 1, 413)])
def test_an_answer_has_a_limit(new_agent, length, status):
    host, agent = new_agent()
    exchange = AgentExchange.objects.create(host=host, payload=b"{}\n", expires_at=Now() + timedelta(minutes=1))
    assert agent.answer(exchange.public_id, bytes(length)) == status


def test_an_empty_answer_is_no_response(new_agent):
    host, agent = new_agent(serve=lambda requests: b"")
    with agent.running(), pytest.raises(HostUnavailableError, match="expected 1 responses, got 0"):
        connect(host).boot_ids()


def test_a_host_without_an_agent_is_unavailable_at_once():
    host, _ = enrol_agent_host("lab-9", None)
    with pytest.raises(HostUnavailableError, match="no agent has joined; print a command on the page of the host"):
        connect(host).boot_ids()


def test_a_request_inside_a_transaction_is_an_error_of_the_caller(new_agent):
    host, _ = new_agent()
    with transaction.atomic(), pytest.raises(RuntimeError, match="expected no transaction"):
        connect(host).boot_ids()


def test_waiting_agents_hold_no_connection_and_no_thread(new_agent):
    """There are 4 threads with a connection each; 20 agents wait, and each is answered."""
    pairs = [new_agent(f"lab-{number}") for number in range(20)]
    runs = [agent.running() for _, agent in pairs]
    try:
        for run in runs:
            run.__enter__()
        wait_for(lambda: all(agent.polls for _, agent in pairs), str, PATIENCE_S)
        for host, _ in pairs:
            assert connect(host).boot_ids() == ("b-1",)
    finally:
        for run in runs:
            run.__exit__(None, None, None)


def test_exchanges_of_workers_that_ended_are_deleted_after_an_hour(new_agent):
    host, _ = new_agent()
    ages = {minutes: Now() - timedelta(minutes=minutes) for minutes in (59, 61)}
    for minutes, expires_at in ages.items():
        AgentExchange.objects.create(host=host, payload=str(minutes).encode(), expires_at=expires_at)
    assert delete_abandoned() == 1
    assert bytes(AgentExchange.objects.get().payload) == b"59"
