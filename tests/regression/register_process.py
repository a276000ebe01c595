"""A register of a given checkout on a given data directory: started, signed in to, and stopped completely."""

import http.cookiejar
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import ExitStack
from pathlib import Path

from tests.regression.pages import Form, Page

PATIENCE_S = 300
SESSION_VARIABLES = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "HOST", "ALLOWED_HOSTS", "DJANGO_SETTINGS_MODULE")


class RegisterProcess:
    """`manage.py up` of a checkout; snapshots are off, because they would make headers depend on time."""

    def __init__(self, checkout: Path, data_dir: Path, port: int = 0) -> None:
        self.checkout, self.data_dir = checkout.resolve(), data_dir.resolve()
        self.python = str(self.checkout / ".venv" / "bin" / "python")
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.output = self.data_dir.with_name(f"{self.data_dir.name}.output")

    def __enter__(self) -> "RegisterProcess":
        self.data_dir.mkdir(parents=True, exist_ok=True)
        command = [self.python, "manage.py", "up"]
        with self.output.open("w") as output:
            self._process = subprocess.Popen(
                command, cwd=self.checkout, env=self.environment(), stdout=output, stderr=subprocess.STDOUT
            )
        with ExitStack() as unless_ready:
            unless_ready.callback(self.stop)
            self._wait_until_ready()
            unless_ready.pop_all()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def environment(self) -> dict[str, str]:
        """Return the environment of every command of this register."""
        kept = {name: value for name, value in os.environ.items() if name not in SESSION_VARIABLES}
        own = {"PORT": str(self.port), "DRIVECERT_DATA": str(self.data_dir)}
        own |= {"SNAPSHOT_PERIOD_S": "86400", "EXAMPLE_RUNS": "no"}
        return kept | own | {"PYTHONDONTWRITEBYTECODE": "1"}

    def manage(self, *arguments: str) -> str:
        """Run a management command and return its output."""
        command = [self.python, "manage.py", *arguments]
        ended = subprocess.run(
            command, cwd=self.checkout, env=self.environment(), capture_output=True, text=True, check=False
        )
        if ended.returncode:
            raise RuntimeError(f"manage.py {' '.join(arguments)} ended with {ended.returncode}: {ended.stderr}")
        return ended.stdout

    def stop(self) -> None:
        """End the supervisor and wait until no process of the data directory is left."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(PATIENCE_S)
        deadline = time.monotonic() + PATIENCE_S
        while leftover := processes_of(self.data_dir):
            if time.monotonic() > deadline:
                raise RuntimeError(f"processes of {self.data_dir} are still running: {leftover}")
            time.sleep(0.2)

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not self._is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the register did not start:\n{self.output.read_text()}")
            time.sleep(0.5)

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=10) as response:  # noqa: S310 - own address
                return bool(response.status == 200)
        except urllib.error.HTTPError as error:
            error.close()
            return False
        except OSError:
            return False


class Browser:
    """A session of a person: cookies, pages and their forms."""

    def __init__(self, url: str) -> None:
        self.url = url
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self._opener = urllib.request.build_opener(jar)

    def sign_in(self, name: str, password: str) -> None:
        """Sign in with the form of the login page."""
        form = next(form for form in self.page("/accounts/login/").forms if is_login(form))
        field = "login" if "login" in dict(form.values) else "username"  # the older of two releases has the latter
        self.submit(form, "/accounts/login/", **{field: name}, password=password)

    def page(self, path: str) -> Page:
        """Return a page."""
        with self._opener.open(f"{self.url}{path}", timeout=PATIENCE_S) as response:
            return Page(response.read().decode())

    def submit(self, form: Form, path: str, **fields: str) -> Page:
        """Send a form with all its boxes ticked and the given fields; return the page that follows."""
        values = [(name, value) for name, value in form.values if name not in fields] + list(fields.items())
        body = urllib.parse.urlencode(values).encode()
        address = urllib.parse.urljoin(f"{self.url}{path}", form.action or path)
        with self._opener.open(address, body, timeout=PATIENCE_S) as response:
            return Page(response.read().decode())


def is_login(form: Form) -> bool:
    """Return whether a form has a password field."""
    return "password" in [name for name, _ in form.values]


def processes_of(data_dir: Path) -> list[int]:
    """Return the processes that were started for a data directory, or work in it."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
            working = (entry / "cwd").readlink()
        except OSError:
            continue
        is_started_for = f"DRIVECERT_DATA={data_dir}".encode() in environment
        if int(entry.name) != os.getpid() and (is_started_for or data_dir in [working, *working.parents]):
            found.append(int(entry.name))
    return found


def free_port() -> int:
    """Return a port that no process listens on."""
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        port: int = trial.getsockname()[1]
        return port
