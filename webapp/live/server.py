"""The ASGI application of waiting clients: a GET that answers when its resource changes, or a stream of its states.

`/api/v1/live/<path>` waits for the resource at `/api/v1/<path>`. Each state is the response of the ordinary view, or
for agents the same document (docs/decisions/0033): one of a few threads reads it again after each change. Token and
scope are checked each time; the rate is counted once.
"""

import asyncio
import contextlib
import json
import random
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.core.handlers.asgi import ASGIRequest
from django.core.handlers.base import BaseHandler
from django.core.signals import request_finished, request_started
from django.db import Error
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix
from django.utils.http import parse_etags

from results.models.ids import ALPHABET, ID_CHARS
from webapp.accounts.models import hash_token
from webapp.accounts.tokens.rules import bearer_secret
from webapp.api.agents import has_no_new_exchange, quick_exchanges
from webapp.live.changes import Changes

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

ROOT, API = "/api/v1/live/", "/api/v1/"
OF_AGENTS = "agents/exchanges/"
WATCHED = re.compile(
    rf"{ROOT}((submissions|lab/dispatches|lab/campaigns)/[a-z]-[{ALPHABET}]{{{ID_CHARS}}}/|{OF_AGENTS})"
)
PUBLIC_ID = re.compile(rf"\b[a-z]-[{ALPHABET}]{{{ID_CHARS}}}\b".encode())
THREADS = 2  # each has a connection to the database while it reads
WAIT_DEFAULT_S, WAIT_MOST_S = 30, 60
AGENT_WAIT_LEAST = 0.5  # of the wait that an agent asks for
WAITING_MOST, WAITING_PER_TOKEN = 4000, 100
ALIVE_PERIOD_S = 15.0  # of comments in a stream, so that proxies keep it open
STATE_PERIOD_S = 0.25  # changes within this time are one state
STREAM_MOST_S = 3600.0
STREAM = b"text/event-stream"


@dataclass(frozen=True)
class State:
    """A response to a waiting client: its status, headers and body, and the ids in the body."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes
    etag: str
    ids: frozenset[str]

    @property
    def is_readable(self) -> bool:
        """Return whether the client may read the resource now."""
        return self.status == 200 and self.etag != ""


@dataclass(frozen=True)
class Waiting:
    """A request of a waiting client: that of the ordinary view, the ETag that it knows, and its wait in seconds."""

    scope: Scope
    known: str
    wait_s: float


class RefusedError(Exception):
    """A request that is answered at once. `state` is the problem."""

    def __init__(self, status: int, title: str, detail: str, **headers: str) -> None:
        super().__init__(detail)
        problem = {"type": "about:blank", "title": title, "status": status, "detail": detail}
        names = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        content = [(b"content-type", b"application/problem+json"), (b"cache-control", b"no-store"), *names]
        self.state = State(status, content, json.dumps(problem).encode(), "", frozenset())


class LiveServer:
    """The application. One event loop serves all clients; a client that waits is only an entry of `changes`."""

    def __init__(self) -> None:
        self.changes = Changes()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="state")
        self._handler = BaseHandler()
        self._handler.load_middleware()
        self._waiting: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection, as ASGI defines it."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            try:
                await self._serve(scope, receive, send)
            except RefusedError as refused:
                await _respond(send, refused.state)

    async def _live(self, receive: Receive, send: Send) -> None:
        """Listen to the database from the start of the process to its end."""
        listening: asyncio.Task[None] | None = None
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                listening = asyncio.create_task(self.changes.listen())
                await send({"type": "lifespan.startup.complete"})
            else:
                if listening is not None:
                    listening.cancel()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/healthz":
            await _respond(send, self._health())
            return
        if not WATCHED.fullmatch(scope["path"]):
            expected = f"submissions/<id>/, lab/dispatches/<id>/, lab/campaigns/<id>/ or {OF_AGENTS}"
            raise RefusedError(404, "Not Found", f"Expected {ROOT} and {expected}, got {scope['path'][:200]}.")
        if scope["method"] != "GET":
            raise RefusedError(405, "Method Not Allowed", f"Expected GET, got {scope['method']}.", allow="GET")
        waiting = _waiting(scope)
        with self._counted(_header(scope, b"authorization")):
            serve = self._stream if STREAM in _header(scope, b"accept") else self._poll
            serving = asyncio.create_task(serve(waiting, send))
            leaving = asyncio.create_task(_left(receive))
            # A client that reads nothing blocks the serving, so the end of its time is checked here as well.
            tasks, limit_s = {serving, leaving}, STREAM_MOST_S + WAIT_MOST_S
            await asyncio.wait(tasks, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
            leaving.cancel()
            serving.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await serving

    async def _poll(self, waiting: Waiting, send: Send) -> None:
        """Answer as soon as the state differs from the one that the client knows, or with 304 after the wait.

        An agent gets no answer for a list that has only lost exchanges: it would send its next poll at once. Its wait
        is shortened at random: agents that connected together, after a restart, would all poll again together.
        """
        is_known, wait_s = _is_known, waiting.wait_s
        if waiting.scope["path"] == API + OF_AGENTS:
            is_known, wait_s = _is_known_to_agent, wait_s * random.uniform(AGENT_WAIT_LEAST, 1)  # noqa: S311
        async for state in self._states(waiting.scope, time.monotonic() + wait_s):
            if not state.is_readable or not is_known(state.etag, waiting.known):
                await _respond(send, state)
                return
            last = state
        headers = [pair for pair in last.headers if pair[0] in (b"etag", b"cache-control", b"vary")]
        await _respond(send, State(304, headers, b"", last.etag, last.ids))

    async def _stream(self, waiting: Waiting, send: Send) -> None:
        """Send each state as an event until the client leaves. End with the problem if it may no longer read."""
        states = self._states(waiting.scope, time.monotonic() + STREAM_MOST_S, ALIVE_PERIOD_S)
        first = await anext(states)
        if not first.is_readable:
            await _respond(send, first)
            return
        headers = [(b"content-type", STREAM), (b"cache-control", b"no-store"), (b"x-accel-buffering", b"no")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        known, sent_at = waiting.known, float("-inf")
        async for state in _preceded_by(first, states):
            event = _event_of(state, known)
            # A comment for each change of another row would reveal that change.
            if not event and time.monotonic() - sent_at >= ALIVE_PERIOD_S:
                event = b": waiting\n\n"
            if event:
                await send({"type": "http.response.body", "body": event, "more_body": True})
                known, sent_at = state.etag, time.monotonic()
            if not state.is_readable:
                break
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _states(self, scope: Scope, deadline: float, period_s: float = WAIT_MOST_S) -> AsyncIterator[State]:
        """Yield the present state, and again after each change and each period; the last time at the deadline.

        The poll of an agent ends at the deadline without another reading of its list.
        """
        is_repeat, is_of_agent = False, scope["path"] == API + OF_AGENTS  # a worker waits for an agent
        while True:
            since = self.changes.count
            state = await asyncio.get_running_loop().run_in_executor(self._threads, self._read, scope, is_repeat)
            yield state
            is_repeat = True
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return
            has_changed = await self.changes.wait(state.ids, since, min(remaining, period_s))
            if is_of_agent and not has_changed and remaining <= period_s:
                return  # all that concerns an agent is announced, and a thousand idle agents read a lot
            # The last state, at the deadline, also has what no notification announces.
            if has_changed and not is_of_agent:
                await asyncio.sleep(min(STATE_PERIOD_S, remaining))

    def _read(self, scope: Scope, is_repeat: bool) -> State:
        """Return the response of the ordinary view, in a thread; for an agent, the same without the view."""
        set_script_prefix("/")
        request_started.send(sender=type(self), scope=scope)
        try:
            if scope["path"] == API + OF_AGENTS and (quick := _quick_state(scope, is_repeat)):
                return quick
            request = ASGIRequest(dict(scope), BytesIO())
            request.is_repeat = is_repeat  # type: ignore[attr-defined]  # it was counted when it began
            response = self._handler.get_response(request)
            return _state_of(response)
        finally:
            request_finished.send(sender=type(self))

    def _health(self) -> State:
        """Return that this process answers, whether it receives changes, and how many clients wait."""
        shown = {"status": "alive", "listening": self.changes.is_listening, "waiting": self._waiting.total()}
        headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
        return State(200, headers, json.dumps(shown).encode(), "", frozenset())

    @contextlib.contextmanager
    def _counted(self, authorization: bytes) -> Iterator[None]:
        """Count a client while it waits. Raises RefusedError if there are too many."""
        sender = hash_token(bearer_secret(authorization.decode("latin-1")) or "")
        if self._waiting[sender] >= WAITING_PER_TOKEN:
            detail = f"Expected at most {WAITING_PER_TOKEN} waiting requests with one token."
            raise RefusedError(429, "Too Many Requests", detail, retry_after="10")
        if self._waiting.total() >= WAITING_MOST:
            detail = "This process serves no more waiting clients now. Request the resource itself meanwhile."
            raise RefusedError(503, "Service Unavailable", detail, retry_after="10")
        self._waiting[sender] += 1
        try:
            yield
        finally:
            self._waiting[sender] -= 1
            if not self._waiting[sender]:
                del self._waiting[sender]


def _quick_state(scope: Scope, is_repeat: bool) -> State | None:
    """Return the exchanges of an agent; None for what only the view answers: unknown agents, parameters, faults."""
    secret = bearer_secret(_header(scope, b"authorization").decode("latin-1"))
    if secret is None or scope["query_string"]:
        return None
    try:
        response = quick_exchanges(secret, is_repeat)
    except Error:
        return None
    return None if response is None else _state_of(response)


def _waiting(scope: Scope) -> Waiting:
    """Return the request of a waiting client. Raises RefusedError."""
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    stated = [value for name, value in pairs if name == "wait"]
    wait = stated[0] if stated else str(WAIT_DEFAULT_S)
    if len(stated) > 1 or not (wait.isascii() and wait.isdigit() and len(wait) < 4 and int(wait) <= WAIT_MOST_S):
        detail = f"wait: expected seconds from 0 to {WAIT_MOST_S}, got {','.join(stated)[:40]}."
        raise RefusedError(400, "Bad Request", detail)
    path = API + scope["path"].removeprefix(ROOT)
    # The view returns JSON, also to a client that knows it: its body names the ids whose changes are awaited.
    headers = [pair for pair in scope["headers"] if pair[0].lower() not in (b"if-none-match", b"accept")]
    query = urlencode([pair for pair in pairs if pair[0] != "wait"]).encode()
    inner = {**scope, "path": path, "raw_path": path.encode(), "query_string": query, "headers": headers}
    known = _header(scope, b"if-none-match") or _header(scope, b"last-event-id")
    return Waiting(inner, known.decode("latin-1"), float(wait))


def _header(scope: Scope, name: bytes) -> bytes:
    return next((value for key, value in scope["headers"] if key.lower() == name), b"")


def _is_known(etag: str, known: str) -> bool:
    """Return whether a client knows a state, by the weak comparison of RFC 9110."""
    return etag.removeprefix("W/") in {each.removeprefix("W/") for each in parse_etags(known)}


def _is_known_to_agent(etag: str, known: str) -> bool:
    return has_no_new_exchange(etag, parse_etags(known))


def _state_of(response: HttpResponseBase) -> State:
    body = response.content if isinstance(response, HttpResponse) else b""
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in response.items()]
    ids = frozenset(each.decode() for each in PUBLIC_ID.findall(body))
    return State(response.status_code, headers, body, response.headers.get("ETag", ""), ids)


async def _preceded_by(first: State, states: AsyncIterator[State]) -> AsyncIterator[State]:
    yield first
    async for state in states:
        yield state


def _event_of(state: State, known: str) -> bytes:
    """Return the event of a state; empty if the client knows it."""
    if not state.is_readable:
        return _event("problem", "", state.body)
    return b"" if _is_known(state.etag, known) else _event("state", state.etag, state.body)


def _event(kind: str, state_id: str, body: bytes) -> bytes:
    """Return one event of a stream; JSON has no line break of its own."""
    named = f"id: {state_id}\n" if state_id else ""
    return f"event: {kind}\n{named}data: ".encode() + body + b"\n\n"


async def _respond(send: Send, state: State) -> None:
    length = [] if state.status == 304 else [(b"content-length", str(len(state.body)).encode())]
    headers = [pair for pair in state.headers if pair[0] != b"content-length"] + length
    await send({"type": "http.response.start", "status": state.status, "headers": headers})
    await send({"type": "http.response.body", "body": state.body})


async def _left(receive: Receive) -> None:
    """Return when the client has closed its connection."""
    while (await receive())["type"] != "http.disconnect":
        pass
