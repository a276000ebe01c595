"""Lab hosts that nobody can connect to: their agents reach a register over TLS, through a link that can fail.

The agent sends TLS to a relay on this machine's end of the host's wire, the relay to nginx, and nginx to the register.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, Literal

from tests.lab_hosts.namespaces import PROGRAM, NamespaceHost
from tests.operations.nginx import NAME, PATIENCE_S

STATE_DIR = "/var/lib/drivecert"
CA_FILE = "/etc/drivecert/register.pem"
CHUNK_BYTES = 65_536
LinkState = Literal["open", "refused", "delayed", "half-open"]


class Links:
    """The relays of all hosts, in one thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.opened: list[Link] = []

    def __enter__(self) -> "Links":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.call(self._end())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(PATIENCE_S)
        self.loop.close()

    def call(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine in the thread of the relays, and return its result."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE_S)

    def open(self, listen: tuple[str, int], target: tuple[str, int], source: str) -> "Link":
        """Return an open relay that listens at one address and connects to another, from an own address."""
        link = Link(self, target, source)
        self.call(link.listen(listen))
        self.opened.append(link)
        return link

    async def _end(self) -> None:
        for link in self.opened:
            link.end()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


class Link:
    """A relay of TCP connections. `set_state` changes how it treats them.

    refused: connections are reset, and new ones too. delayed: each piece waits for `delay_s`. half-open: the far ends
    are closed and the near ends get neither data nor an error, even afterwards; they must give up by themselves.
    """

    def __init__(self, links: Links, target: tuple[str, int], source: str) -> None:
        self.links, self.target, self.source = links, target, source
        self.state: LinkState = "open"
        self.delay_s = 0.0
        self.pairs: set[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = set()
        self.silent: set[asyncio.StreamWriter] = set()
        self.server: asyncio.Server | None = None

    async def listen(self, place: tuple[str, int]) -> None:
        """Accept connections from now on."""
        self.server = await asyncio.start_server(self._relay, *place)

    def end(self) -> None:
        """Listen no more, and end all connections."""
        if self.server is not None:
            self.server.close()
        for writer in (*self.silent, *(each for pair in self.pairs for each in pair)):
            writer.transport.abort()

    def set_state(self, state: LinkState, delay_s: float = 0.0) -> None:
        """Change the state, and treat the present connections accordingly."""

        async def change() -> None:
            self.state, self.delay_s = state, delay_s
            for near, far in [*self.pairs] if state in ("refused", "half-open") else ():
                far.transport.abort()
                if state == "refused":
                    near.transport.abort()
                else:
                    self.silent.add(near)

        self.links.call(change())

    async def _relay(self, reader: asyncio.StreamReader, near: asyncio.StreamWriter) -> None:
        if self.state == "half-open":
            self.silent.add(near)
            return await self._wait_for_the_end(reader, near)
        far = None
        if self.state != "refused":
            with contextlib.suppress(OSError):
                answers, far = await asyncio.open_connection(*self.target, local_addr=(self.source, 0))
        if far is None:
            near.transport.abort()
            return None
        self.pairs.add((near, far))
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pass_on(reader, far))
                both.create_task(self._pass_on(answers, near))
        finally:
            self.pairs.discard((near, far))
            far.transport.abort()
            if near not in self.silent:
                near.transport.abort()
        return await self._wait_for_the_end(reader, near)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(CHUNK_BYTES):
                if self.state == "delayed":
                    await asyncio.sleep(self.delay_s)
                writer.write(data)
                await writer.drain()
            if writer not in self.silent:
                writer.close()

    async def _wait_for_the_end(self, reader: asyncio.StreamReader, near: asyncio.StreamWriter) -> None:
        if near in self.silent:
            with contextlib.suppress(OSError):
                while await reader.read(CHUNK_BYTES):
                    pass
            self.silent.discard(near)
            near.transport.abort()


class AgentHost(NamespaceHost):
    """A lab host without a listening program. Its agent is restarted by `start_agent`, as a service manager does it."""

    agent_process: Any = None  # before the first start

    def start_sshd(self) -> None:
        """Start none: the register cannot connect to this host."""

    def trust(self, certificate: Path) -> None:
        """Let the host find the register by its name, and trust its certificate."""
        self.write("/etc/hosts", f"127.0.0.1 localhost\n{self.wire.near} {NAME}\n")
        self.write(CA_FILE, certificate.read_bytes())

    def join(self, register: str, code: str) -> None:
        """Join a register with the code that it has shown."""
        self.run(PROGRAM, "agent", "join", register, code, "--no-service", "--ca-file", CA_FILE)

    def start_agent(self) -> None:
        """Run `drivetest agent` until `kill_agent` or the end of the host."""
        inside = ["--mount", "--net", "--pid", "--uts", "--ipc", f"--root=/proc/{self.first}/root", "--wd=/"]
        with (self.disk / "agent.log").open("ab") as log:
            self.agent_process = subprocess.Popen(
                ["nsenter", f"--target={self.first}", *inside, PROGRAM, "agent"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip

    def kill_agent(self) -> None:
        """Kill the agent at once. What it started continues."""
        if self.agent_process is not None:
            for child in _children(self.agent_process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            self.agent_process.wait(PATIENCE_S)
            self.agent_process = None

    def programs(self) -> Iterator[tuple[int, list[str]]]:
        """Yield each process of drivetest other than the agent: its number on the host, and its words."""
        for number in self.pids_of("drivetest"):
            with contextlib.suppress(OSError):
                words = self.path(f"/proc/{number}/cmdline").read_bytes().decode(errors="replace").split("\0")
                if words[1:2] != ["agent"]:
                    yield number, words

    def loads_count(self) -> int:
        """Return how many loads of drives run at this moment."""
        return sum(words[1:2] == ["storage"] for _, words in self.programs())

    def listeners(self) -> str:
        """Return what listens for connections on the host."""
        return self.run("ss", "-Hltun").stdout


def _children(pid: int) -> list[int]:
    try:
        return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))
    except OSError:
        return []
