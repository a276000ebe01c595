"""The register that is measured, its people, and their clients."""

import base64
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import requests
from requests.adapters import HTTPAdapter

from account_measures import people

PATIENCE_S = 600
FUNCTIONS = "import json; from account_measures import people; people.{}(*json.loads({!r}))"


@dataclass(frozen=True)
class Row:
    """The result of one measure."""

    measure: str
    target: str
    found: str
    is_met: bool


@dataclass
class Person:
    """A user with the password and the API tokens."""

    name: str
    password: str
    tokens: list[str]


class _From(HTTPAdapter):
    """Connections from one of the addresses of this machine."""

    def __init__(self, address: str) -> None:
        self.address = address
        super().__init__()

    def init_poolmanager(self, *arguments: Any, **options: Any) -> Any:
        return super().init_poolmanager(*arguments, source_address=(self.address, 0), **options)


class Client:
    """A browser without script, or a script with a token. It follows no redirect."""

    def __init__(self, url: str, token: str = "", address: str = "127.0.0.1") -> None:
        self.url, self.session = url, requests.Session()
        self.session.trust_env = False  # no proxy of the shell
        self.session.mount("http://", _From(address))
        if token:
            self.session.headers["Authorization"] = f"Bearer {token}"

    def ask(self, method: str, path: str, **options: Any) -> requests.Response:
        """Send a request."""
        return self.session.request(method, self.url + path, allow_redirects=False, timeout=PATIENCE_S, **options)

    def get(self, path: str) -> requests.Response:
        """Open a page."""
        return self.ask("GET", path)

    def cookie(self, name: str) -> str:
        """Return the value of a cookie; "" without it."""
        return self.session.cookies.get(name) or ""

    def send(
        self, path: str, fields: dict[str, str] | None = None, headers: dict[str, str] | None = None
    ) -> requests.Response:
        """Send a form with the CSRF token of the cookie, as a browser does."""
        if not self.cookie("csrftoken"):
            self.get("/accounts/login/")
        data = (fields or {}) | {"csrfmiddlewaretoken": self.cookie("csrftoken")}
        return self.ask("POST", path, data=data, headers=headers)

    def sign_in(self, login: str, password: str, headers: dict[str, str] | None = None) -> requests.Response:
        """Send a name and a password."""
        return self.send("/accounts/login/", {"login": login, "password": password}, headers)

    def upload(self, content: bytes, name: str = "load.log") -> str:
        """Send a file as a new draft by tus, and return the id of the draft."""
        announced = self.announce(len(content), name)
        announced.raise_for_status()
        headers = TUS | {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
        self.ask("PATCH", announced.headers["Location"], data=content, headers=headers).raise_for_status()
        return announced.headers["Drivecert-Draft"]

    def announce(self, size_bytes: int, name: str = "load.log") -> requests.Response:
        """Announce a file by tus."""
        values = {"filename": name, "slice_length_s": "10"}
        pairs = ",".join(f"{key} {base64.b64encode(value.encode()).decode()}" for key, value in values.items())
        return self.ask("POST", "/uploads/", headers=TUS | {"Upload-Length": str(size_bytes), "Upload-Metadata": pairs})


TUS = {"Tus-Resumable": "1.0.0"}


@dataclass
class Site:
    """A running register. `secrets` has each secret that a measure saw, for the measure of the dump."""

    register: Any
    secrets: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Return the address without a slash at the end."""
        return str(self.register.url)

    @cached_property
    def people(self) -> dict[str, Person]:
        """Return the users, who are created at the first use."""
        created = self.call(people.create)
        found = {name: Person(name, **secrets) for name, secrets in created.items()}
        self.secrets += [secret for each in found.values() for secret in (each.password, *each.tokens)]
        return found

    def call(self, function: Callable[..., None], *arguments: Any) -> Any:
        """Run a function of people.py in the register, and return what it prints."""
        text = FUNCTIONS.format(function.__name__, json.dumps(arguments))
        path = str(Path(__file__).parent.parent)
        done = self.register.run_command("shell", "--no-imports", "--command", text, PYTHONPATH=path)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return json.loads(done.stdout.splitlines()[-1])

    def script_of(self, name: str, number: int = 0) -> Client:
        """Return a script with a token of a person."""
        return Client(self.url, self.people[name].tokens[number % len(self.people[name].tokens)])

    def browser_of(self, name: str, address: str = "127.0.0.1") -> Client:
        """Return a browser in which a person signed in."""
        browser, person = Client(self.url, address=address), self.people[name]
        answer = browser.sign_in(name, person.password)
        if answer.status_code != 302:
            raise RuntimeError(f"expected {name} to be signed in, got status {answer.status_code}")
        browser.session.headers["X-CSRFToken"] = browser.cookie("csrftoken")  # as scripts of the pages send it
        self.secrets.append(browser.cookie("sessionid"))
        return browser

    def web_processes(self) -> list[int]:
        """Return the processes of the web server."""
        main = self.register.pid_of("web")
        children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
        return [main, *map(int, children)]


def wait_for(condition: Callable[[], Any], patience_s: float = PATIENCE_S) -> Any:
    """Return the first true result of the condition. Raises TimeoutError."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.1)
    raise TimeoutError(f"the condition was not true within {patience_s} s")


def wait_until_read(browser: Client, draft: str) -> str:
    """Wait until a draft is read, and return its page."""
    wait_for(lambda: browser.get(f"/submit/{draft}/state/").json()["is_finished"])
    return browser.get(f"/submit/{draft}/").text


def first_match(pattern: str, text: str) -> str:
    """Return the first group of the first match. Raises ValueError without one."""
    found = re.search(pattern, text)
    if found is None:
        raise ValueError(f"expected {pattern} in {text[:200]!r}")
    return found[1]
