"""A lab host that its agent reaches: each exchange is a row until the agent has answered it.

The database wakes the agent's long poll when the row is stored, and this thread when the answer is. The thread listens
with its own connection, so no exchange takes a second one.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime, timedelta

from django.conf import settings
from django.db import Error, connection
from django.db.models.functions import Now

from runners.errors import HostUnavailableError
from runners.hosts.wire import RemoteHost
from runners.models import Agent, AgentExchange

TABLE = f'"{AgentExchange._meta.db_table}"'
# No row for a host without an agent that could answer. Written once: Django would compose it for each exchange.
STORE = f"""
INSERT INTO {TABLE} (public_id, host_id, payload, created_at, expires_at)
SELECT %s, host_id, %s, statement_timestamp(), statement_timestamp() + %s * interval '1 s'
FROM "{Agent._meta.db_table}" WHERE host_id = %s AND secret_hash <> ''
"""  # noqa: S608 - the models' own names
# The row ends with the wait. An answer that was stored after the last notification is in it.
TAKE_ANSWER = f"DELETE FROM {TABLE} WHERE public_id = %s RETURNING answer"  # noqa: S608 - the model's own name
ABANDONED = timedelta(hours=1)


class AgentHost(RemoteHost):
    """A remote host that fetches its requests from this register."""

    def exchange(self, payload: bytes) -> bytes:
        """Return the answer to a batch of requests. Raise HostUnavailableError if it does not come in time.

        Raise RuntimeError inside a transaction: no agent sees the row before the commit.
        """
        if connection.in_atomic_block:
            raise RuntimeError(f"{self.host}: expected no transaction around a request to an agent host, found one")
        self.timer.request_sent()
        within_s = settings.HOST_ANSWER_TIMEOUT_S
        row = AgentExchange(host=self.host, payload=payload)
        with _listening(row.answer_channel):
            try:
                if not _store(row, within_s):
                    raise HostUnavailableError(f"{self.host}: no agent has joined; {JOIN}")
                if _is_notified(row.answer_channel, within_s):
                    self.timer.bytes_received()
            finally:
                answer = _take_answer(row.public_id)
        if answer is None:
            raise HostUnavailableError(f"{self.host}: no answer within {within_s} s; {self._agent_message()}")
        return answer

    def _agent_message(self) -> str:
        """Return when the agent last sent a request, and what to check."""
        agent = Agent.objects.filter(host=self.host).first()
        if agent is None or not agent.is_joined:
            return f"its agent was revoked; {JOIN}"
        seen = f"last sent a request on {_moment(agent.seen_at)}" if agent.seen_at else "has sent no request yet"
        return f"its agent {seen}; check that the host is up and reaches the register: {CHECK}"


JOIN = "print a command on the page of the host, and run it there"
CHECK = "`systemctl status drivecert-agent` there"


def delete_abandoned() -> int:
    """Delete the exchanges whose worker ended before their answer came, and return how many."""
    return AgentExchange.objects.filter(expires_at__lt=Now() - ABANDONED).delete()[0]


@contextmanager
def _listening(channel: str) -> Iterator[None]:
    """Receive the notifications of a channel on this thread's connection."""
    name = connection.ops.quote_name(channel)
    with connection.cursor() as cursor:
        cursor.execute(f"LISTEN {name}")
    try:
        yield
    finally:
        with suppress(Error), connection.cursor() as cursor:  # a connection that was lost listens no more
            cursor.execute(f"UNLISTEN {name}")


def _is_notified(channel: str, within_s: float) -> bool:
    """Return whether a channel is notified in time, now or during an earlier statement of this connection.

    A late answer to an earlier exchange may have left a notification of another channel.
    """
    with connection.wrap_database_errors, closing(connection.connection.notifies(timeout=within_s)) as notifications:
        return any(each.channel == channel for each in notifications)


def _store(row: AgentExchange, within_s: float) -> bool:
    """Store an exchange that is over after so many seconds. Return False if the host has no agent."""
    with connection.cursor() as cursor:
        cursor.execute(STORE, [row.public_id, bytes(row.payload), within_s, row.host_id])
        return bool(cursor.rowcount)


def _take_answer(public_id: str) -> bytes | None:
    with connection.cursor() as cursor:
        cursor.execute(TAKE_ANSWER, [public_id])
        found = cursor.fetchone()
    return None if found is None or found[0] is None else bytes(found[0])


def _moment(at: datetime) -> str:
    return f"{at:%-d %B %Y, %H:%M} UTC"
