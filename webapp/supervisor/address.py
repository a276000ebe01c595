"""The address of the web server, and the check that the address is free."""

import json
import os
import socket
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from webapp import env
from webapp.supervisor.errors import CannotStartError

ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compares the names, binds nothing

LAST_PORT = 65_535


class Response(NamedTuple):
    """Status and text of a response."""

    status: int
    text: str


@dataclass(frozen=True)
class Address:
    """A host and a port. The default host is 127.0.0.1, so that only an explicit HOST opens the network."""

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
        """Return the address for a browser on this machine."""
        host = ANY_ADDRESS.get(self.host, self.host)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    def get(self, path: str) -> "Response":
        """Return the web server's response for a path. Status 0 means that no server responds."""
        try:
            with urllib.request.urlopen(f"{self.url}{path}", timeout=5) as response:  # noqa: S310 - http address of this register
                return Response(response.status, response.read().decode())
        except urllib.error.HTTPError as error:
            return Response(error.code, error.read().decode())
        except OSError as error:
            return Response(0, str(error))

    def check_free(self) -> None:
        """Raise CannotStartError if the web server cannot listen at this address."""
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)[0]
        except socket.gaierror as error:
            raise CannotStartError(
                f"HOST={self.host}: {error.strerror}. Set HOST to an address of this machine"
            ) from error
        with socket.socket(family, kind, protocol) as probe:
            # A port with only closing connections (TIME_WAIT) is free; a port with a listener is not.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(address)
                probe.listen()
            except OSError as error:
                raise CannotStartError(
                    f"port {self.port} on {self.host} cannot be used: {error.strerror}. Stop the program that "
                    f"listens there, or choose another port: PORT={self.port + 1} make run"
                ) from error


DEFAULT_DATA_DIR = Path(__file__).resolve().parents[2] / "var"


def write_addresses(run_dir: Path, environment: dict[str, str]) -> None:
    """Write the addresses of the embedded servers to a file that only this user can read."""
    path = _address_file(run_dir)
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(environment, file)


def remove_addresses(run_dir: Path) -> None:
    """Remove the file, because the servers are about to stop."""
    _address_file(run_dir).unlink(missing_ok=True)


def missing_addresses(environment: dict[str, str]) -> dict[str, str]:
    """Return the variables that the environment lacks to reach the register that runs on its data directory, if any."""
    data_dir = Path(environment.get("DRIVECERT_DATA") or DEFAULT_DATA_DIR)
    path = _address_file(data_dir / "run")
    if not os.access(path, os.R_OK):
        return {}
    addresses: dict[str, str] = json.loads(path.read_text())
    return {name: value for name, value in addresses.items() if not environment.get(name)}


def _address_file(run_dir: Path) -> Path:
    return run_dir / "addresses.json"
