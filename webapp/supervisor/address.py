"""The address of the web server."""

import contextlib
import socket
import urllib.error
import urllib.request
from dataclasses import dataclass

from webapp import env
from webapp.supervisor.errors import CannotStartError

ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compares the names, binds nothing

LAST_PORT = 65_535


@dataclass(frozen=True)
class Address:
    """A host and a port. The default host is 127.0.0.1, so that only an explicit HOST opens the network."""

    host: str
    port: int

    @classmethod
    def from_environment(cls) -> "Address":
        port = env.read_int("PORT", default=8000, least=0)
        if not 1 <= port <= LAST_PORT:
            raise CannotStartError(f"PORT: expected a number from 1 to {LAST_PORT}, got {port}")
        return cls(env.read_text("HOST") or "127.0.0.1", port)

    @property
    def is_of_this_machine(self) -> bool:
        """Return whether only programs on this machine reach it."""
        return self.host in {"localhost", "::1"} or self.host.startswith("127.")

    @property
    def url(self) -> str:
        """Return the address for a browser on this machine."""
        host = ANY_ADDRESS.get(self.host, self.host)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    @property
    def shown_url(self) -> str:
        """Return the address that people open. Passkeys need a domain name, so it is localhost for this machine."""
        return self.url.replace("//127.0.0.1:", "//localhost:")

    def get(self, path: str) -> tuple[int, str]:
        """Return the status and text of the web server's response. Status 0 means that no server responds."""
        try:
            with urllib.request.urlopen(f"{self.url}{path}", timeout=5) as response:  # noqa: S310 - http address of this register
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)

    def next_free(self) -> "Address":
        """Return the same host with the next port, or with any other free port if a program listens there."""
        following = Address(self.host, self.port + 1 if self.port < LAST_PORT else self.port - 1)
        with contextlib.suppress(CannotStartError):
            following.check_free()
            return following
        family, kind, protocol, _, address = socket.getaddrinfo(self.host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.bind(address)
            return Address(self.host, probe.getsockname()[1])

    def check_free(self) -> None:
        """Raise CannotStartError if the web server cannot listen at this address."""
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)[0]
        except socket.gaierror as error:
            raise CannotStartError(f"HOST={self.host}: {error.strerror}. Use an address of this machine") from error
        with socket.socket(family, kind, protocol) as probe:
            # A port with only closing connections (TIME_WAIT) is free; a port with a listener is not.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(address)
                probe.listen()
            except OSError as error:
                raise CannotStartError(
                    f"port {self.port} on {self.host} cannot be used: {error.strerror}. Stop the program that "
                    f"listens there, or choose another port: PORT={self.port + 2} make run"
                ) from error
