"""The polls of agents: a thousand idle ones read little."""

import asyncio
import time

import pytest

from webapp.live.server import API, OF_AGENTS, LiveServer, State


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
