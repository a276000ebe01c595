"""Where the web server listens, and whether somebody else already does."""

import socket
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import NamedTuple

from webapp import env
from webapp.supervisor.errors import CannotStartError

ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - names them, binds nothing

LAST_PORT = 65_535


class Answer(NamedTuple):
    """Status and text of an answer."""

    status: int
    text: str


@dataclass(frozen=True)
class Address:
    """A host and a port; 127.0.0.1 unless HOST is set, so that nobody is on the network by accident."""

    host: str
    port: int

    @classmethod
    def from_environment(cls) -> "Address":
        port = env.read_int("PORT", default=8000)
        if not 1 <= port <= LAST_PORT:
            raise CannotStartError(f"PORT: expected a number from 1 to {LAST_PORT}, got {port}")
        return cls(env.read_text("HOST") or "127.0.0.1", port)

    @property
    def url(self) -> str:
        """Return the address as a browser on this machine takes it."""
        host = ANY_ADDRESS.get(self.host, self.host)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    def ask(self, path: str) -> "Answer":
        """Return what the web server says at a path; status 0 while nobody answers."""
        try:
            with urllib.request.urlopen(f"{self.url}{path}", timeout=5) as answer:  # noqa: S310 - our own http address
                return Answer(answer.status, answer.read().decode())
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.read().decode())
        except OSError as error:
            return Answer(0, str(error))

    def refuse_if_taken(self) -> None:
        """Raise CannotStartError where the web server could not listen there."""
        try:
            family, kind, protocol, _, place = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)[0]
        except socket.gaierror as error:
            raise CannotStartError(
                f"HOST={self.host}: {error.strerror}. Set HOST to an address of this machine"
            ) from error
        with socket.socket(family, kind, protocol) as trial:
            # A port whose connections are only fading (TIME_WAIT) is free; one that somebody listens on is not.
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind(place)
                trial.listen()
            except OSError as error:
                raise CannotStartError(
                    f"port {self.port} on {self.host} cannot be used: {error.strerror}. Stop what listens there, or "
                    f"choose another: PORT={self.port + 1} make run"
                ) from error
