"""The polls of agents: a thousand idle ones read little."""

import asyncio
import json
import time
from datetime import timedelta
from hashlib import sha256

import pytest
from django.db import InterfaceError, OperationalError
from django.dispatch import Signal
from django.utils import timezone

from runners.inventory.agents import enrol_agent_host, join, revoke
from runners.models import Agent, AgentExchange
from webapp.access_limits.shared_limits import LimitsDownError
from webapp.api.agents import AgentExchangeList, AgentThrottle
from webapp.live.server import API, OF_AGENTS, LiveServer, State, Waiting

SECRET = "a-secret"


class Server(LiveServer):
    """A server without a database, in which nothing changes."""

    def _read(self, scope, is_repeat):
        return State(200, [], b"", '"e"', frozenset({"a-22222222"}))


@pytest.mark.parametrize(("path", "reads"), [(OF_AGENTS, 1), ("submissions/s-22222222/", 2)])
def test_a_poll_without_a_change_is_one_read_for_an_agent(path, reads):
    """All that concerns an agent is announced, so its list needs no second reading at the end of the wait."""

    async def states():
        return [each async for each in Server()._states({"path": API + path}, time.monotonic() + 0.05)]

    assert len(asyncio.run(states())) == reads


@pytest.mark.parametrize("share", [0.5, 1])
@pytest.mark.parametrize(("path", "is_shortened"), [(OF_AGENTS, True), ("submissions/s-22222222/", False)])
def test_agents_that_connected_together_poll_again_at_different_times(monkeypatch, path, is_shortened, share):
    server, deadlines, bounds = Server(), [], []

    async def states(scope, deadline):
        deadlines.append(deadline)
        yield server._read(scope, is_repeat=False)

    async def send(_):
        pass

    monkeypatch.setattr(server, "_states", states)
    monkeypatch.setattr("webapp.live.server.random.uniform", lambda *pair: bounds.append(pair) or share)
    before = time.monotonic()
    asyncio.run(server._poll(Waiting({"path": API + path}, '"e"', 20), send))
    wait_s = 20 * share if is_shortened else 20
    assert before + wait_s <= deadlines[0] <= time.monotonic() + wait_s
    assert bounds == [(0.5, 1)] * is_shortened


@pytest.fixture
def agent(db, monkeypatch):
    """An agent with a secret and an exchange that waits for it, which are read by the connection of the test."""
    for signal in ("request_started", "request_finished"):
        monkeypatch.setattr(f"webapp.live.server.{signal}", Signal())
    _, code = enrol_agent_host("lab-9", None)
    agent = join(code, sha256(SECRET.encode()).hexdigest(), "5e" * 32, "0.0.0")
    for at, wait in ((None, 1), (None, -1), (timezone.now(), 1)):
        AgentExchange.objects.create(
            host=agent.host,
            payload=b"{}\n",
            expires_at=timezone.now() + timedelta(minutes=wait),
            answered_at=at,
            answer=None if at is None else b"",
        )
    return agent


def read(secret=SECRET, query=b"", is_repeat=False):
    """Return the state that the server of waiting clients reads for an agent."""
    headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {secret}".encode())]
    scope = {"type": "http", "method": "GET", "path": API + OF_AGENTS, "query_string": query, "headers": headers}
    return LiveServer()._read(scope | {"raw_path": scope["path"].encode()}, is_repeat)


def test_an_agent_gets_what_the_view_sends_without_the_work_of_the_view(agent, client, monkeypatch):
    shown = client.get(API + OF_AGENTS, headers={"Authorization": f"Bearer {SECRET}"})
    monkeypatch.setattr(AgentExchangeList, "get", None)
    state = read()
    assert (state.status, state.body, state.etag) == (200, shown.content, shown.headers["ETag"])
    assert len(json.loads(state.body)["exchanges"]) == 1
    names = ("Content-Type", "Cache-Control")
    assert {name: dict(state.headers)[name.lower().encode()].decode() for name in names} == {
        name: shown.headers[name] for name in names
    }
    assert Agent.objects.get().seen_at is not None


@pytest.mark.parametrize(
    ("secret", "query", "status"), [("unknown", b"", 401), ("", b"", 401), (SECRET, b"color=red", 400)]
)
def test_the_view_answers_what_it_refuses(agent, secret, query, status):
    assert read(secret, query).status == status


def test_a_poll_counts_once_and_too_many_are_refused(agent, monkeypatch):
    monkeypatch.setattr(AgentThrottle, "num_requests", 1, raising=False)
    monkeypatch.setattr(AgentThrottle, "rate", "1/min")
    assert [read().status, read(is_repeat=True).status, read().status] == [200, 200, 429]


def test_the_secret_of_a_revoked_agent_is_refused_at_the_next_reading(agent):
    assert read().status == 200
    revoke(agent.host, None)
    assert read(is_repeat=True).status == 401


@pytest.mark.parametrize("failed", [OperationalError, InterfaceError])
def test_after_a_fault_of_the_database_the_view_answers(agent, monkeypatch, failed):
    def fail(*_):
        raise failed

    monkeypatch.setattr("webapp.live.server.quick_exchanges", fail)
    assert read().status == 200


def test_without_redis_the_view_answers(agent, monkeypatch):
    def fail(*_):
        raise LimitsDownError

    monkeypatch.setattr("webapp.access_limits.shared_limits.SharedLimit.take", fail)
    assert read().status == 200
