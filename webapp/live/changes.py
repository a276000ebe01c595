"""Changes of rows, as the database announces them: one connection listens for all waiting clients of this process.

Triggers notify the channel with the public id of what changed, when its transaction commits (migrations
`announced_changes` of results and runners, `announced_history` of runners). A client waits for the ids in its last
response.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Collection
from typing import Any

import psycopg
from django.db import connections

CHANNEL = "drivecert_changes"
# So many ids are remembered for clients that read while something changed. A client that was slower reads again.
REMEMBERED = 4096
CHECK_PERIOD_S, CHECK_TIMEOUT_S, RECONNECT_WAIT_S = 15.0, 5.0, 1.0
OF_DJANGO = ("context", "cursor_factory", "prepare_threshold")  # parameters for its own use of a connection
NAME = "drivecert live"

logger = logging.getLogger(__name__)


class Changes:
    """The recent changes and the waiting clients of one event loop."""

    def __init__(self) -> None:
        self.count = 0
        self.is_listening = False
        self._recent: deque[str] = deque(maxlen=REMEMBERED)
        self._waiting: dict[str, set[asyncio.Future[None]]] = {}

    async def wait(self, ids: Collection[str], since: int, timeout_s: float) -> bool:
        """Wait until one of the ids changes after `since`, a value of `count`. Return whether one may have changed."""
        if self._may_have_changed(ids, since):
            return True
        change: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        for each in ids:
            self._waiting.setdefault(each, set()).add(change)
        try:
            await asyncio.wait_for(change, timeout_s)
        except TimeoutError:
            return False
        finally:
            for each in ids:
                self._waiting[each].discard(change)
                if not self._waiting[each]:
                    del self._waiting[each]
        return True

    def announce(self, changed: str) -> None:
        """Wake the clients that wait for an id."""
        self.count += 1
        self._recent.append(changed)
        for change in self._waiting.get(changed, ()):
            if not change.done():
                change.set_result(None)

    def announce_all(self) -> None:
        """Wake all clients: notifications may have been missed."""
        self.count += REMEMBERED + 1
        for changed in list(self._waiting):
            for change in self._waiting[changed]:
                if not change.done():
                    change.set_result(None)

    async def listen(self) -> None:
        """Receive the notifications of the database until this task is cancelled. Connect again after a failure."""
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(**_parameters(), autocommit=True) as connection:
                    await connection.execute(f"LISTEN {CHANNEL}")
                    self.is_listening = True
                    self.announce_all()
                    await self._receive(connection)
            except (psycopg.Error, OSError, TimeoutError) as error:
                logger.warning("changes of rows are not received: %s", error)
            finally:
                self.is_listening = False
            await asyncio.sleep(RECONNECT_WAIT_S)

    async def _receive(self, connection: psycopg.AsyncConnection[Any]) -> None:
        """Announce what the database notifies. A connection that is half-open fails the query of each period."""
        while True:
            async for notification in connection.notifies(timeout=CHECK_PERIOD_S):
                self.announce(notification.payload)
            async with asyncio.timeout(CHECK_TIMEOUT_S):
                await connection.execute("SELECT 1")

    def _may_have_changed(self, ids: Collection[str], since: int) -> bool:
        missed = self.count - since
        if missed <= 0:
            return False
        if missed > len(self._recent):
            return True
        recent = list(self._recent)[-missed:]
        return not set(ids).isdisjoint(recent)


def _parameters() -> dict[str, Any]:
    """Return where the register's database is, for a connection without Django's wrapper."""
    params = connections["default"].get_connection_params()
    return {name: each for name, each in params.items() if name not in OF_DJANGO} | {"application_name": NAME}
