"""Faults of the register's parts under the mixed load: what is lost, how long it takes, and which alert fires."""

import argparse
import json
import os
import shutil
import signal
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any
from uuid import uuid4

import redis
import requests
from account_measures.site import TUS, Client, Row, Site, wait_for
from django.conf import settings

from mixed.load import Load, Plan, Rates, plan_of, running_load
from mixed.processes import pids_of
from tests.object_storage import Seaweed, running_seaweed
from tests.register import free_port
from webapp.embedded import Redis
from webapp.supervisor.data_directory import DataDirectory

RULES = settings.BASE_DIR / "operations/prometheus"
LOG = settings.BASE_DIR / "tests/data/act/6.6/slow-disk-ms.log"
READER = "127.9.0.1"
RESTORED_S, ALERT_S = 30, 60
PATIENCE_S = 240
PROBE_PERIOD_S = 0.5
EVIDENCE_BYTES = 8 * 1024**3  # of the file system that becomes full, a sparse file: the alert is at 5 GB


@dataclass(frozen=True)
class Fault:
    """A fault: how it begins and ends, and the alerts of which one must fire. Without `end`, it has no duration.

    Under a fault of the evidence, `refusals` are the statuses that a sender of files may get.
    """

    name: str
    begin: Callable[[], None]
    end: Callable[[], None] | None = None
    alerts: tuple[str, ...] = ()
    refusals: frozenset[int] = frozenset()


class Prometheus:
    """A real Prometheus with the alert rules of the register."""

    def __init__(self, port: int) -> None:
        self.port = port

    def firing(self) -> set[str]:
        """Return the names of the alerts that fire."""
        with (
            suppress(OSError, ValueError),
            urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/alerts", timeout=5) as answer,
        ):
            alerts = json.load(answer)["data"]["alerts"]
            return {alert["labels"]["alertname"] for alert in alerts if alert["state"] == "firing"}
        return set()


@contextmanager
def running_prometheus(directory: Path, register_port: int) -> Iterator[Prometheus | None]:
    """Run Prometheus, if this machine has it, with the configuration and the rules of operations/prometheus."""
    program = shutil.which("prometheus")
    if program is None:
        yield None
        return
    shutil.copy(RULES / "alerts.yml", directory)
    text = (RULES / "prometheus.yml").read_text().replace("127.0.0.1:8000", f"127.0.0.1:{register_port}")
    (directory / "prometheus.yml").write_text(text)
    port = free_port()
    command = [program, f"--config.file={directory / 'prometheus.yml'}", f"--storage.tsdb.path={directory / 'tsdb'}"]
    with (directory / "prometheus.log").open("wb") as log:
        process = subprocess.Popen([*command, f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)
    try:
        yield Prometheus(port)
    finally:
        process.kill()
        process.wait()


def signal_all(register: Any, part: str, number: signal.Signals) -> None:
    """Send a signal to all processes of a part."""
    for pid in pids_of(register, part):
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def flush(register: Any) -> None:
    """Remove everything from Redis."""
    parts = urllib.parse.urlsplit(Redis(DataDirectory(register.data_dir)).url)
    with redis.Redis(unix_socket_path=parts.path, password=parts.password) as client:
        client.flushall()


def faults_of(register: Any) -> Iterator[Fault]:
    """Yield the faults of the processes, of Redis and of PostgreSQL."""

    def kill(part: str, which: slice) -> Callable[[], None]:
        def now() -> None:
            for pid in pids_of(register, part)[which]:
                os.kill(pid, signal.SIGKILL)

        return now

    def all_get(part: str, number: signal.Signals) -> Callable[[], None]:
        return lambda: signal_all(register, part, number)

    first, last = slice(0, 1), slice(-1, None)
    yield Fault("kill -9 of a process that serves pages", kill("web", last))
    yield Fault("kill -9 of the web server", kill("web", first))
    yield Fault("kill -9 of the process of waiting clients", kill("live", first))
    yield Fault("kill -9 of a process that reads logs", kill("worker", last))
    yield Fault("kill -9 of the worker", kill("worker", first))
    yield Fault("kill -9 of the lab's worker", kill("lab", first))
    yield Fault("kill -9 of beat", kill("beat", first))
    yield Fault("kill -9 of Redis", kill("redis", first))
    yield Fault("Redis flushed", lambda: flush(register))
    yield Fault("PostgreSQL restarted", lambda: os.kill(pids_of(register, "postgresql")[0], signal.SIGINT))
    stop, go_on = signal.SIGSTOP, signal.SIGCONT
    frozen = all_get("postgresql", stop), all_get("postgresql", go_on)
    yield Fault("PostgreSQL frozen", *frozen, ("DatabaseDown", "RegisterDown"))
    yield Fault("beat dead", all_get("beat", stop), all_get("beat", go_on), ("BeatSilent",))


def full_disk(evidence: Path) -> Fault:
    """Return the fault of a file system of evidence without room."""
    filler = evidence / "filler"

    def fill() -> None:
        """Allocate all blocks without writing them: first most of them in large pieces, then the rest."""
        size_bytes = 0
        with filler.open("wb") as file:
            for piece_bytes in (1024**3, 1024**2, 4096):
                with suppress(OSError):
                    while True:
                        os.posix_fallocate(file.fileno(), size_bytes, piece_bytes)
                        size_bytes += piece_bytes

    return Fault("evidence disk full", fill, filler.unlink, ("DiskFull",), frozenset({507}))


@contextmanager
def small_file_system(directory: Path) -> Iterator[bool]:
    """Mount a file system of its own at a directory, if this process may; yield whether it is mounted."""
    directory.mkdir(parents=True, exist_ok=True)
    image = directory.parent.parent / "evidence.ext4"
    with image.open("wb") as file:
        file.truncate(EVIDENCE_BYTES)
    make, mount = ["mkfs.ext4", "-q", "-m", "0", str(image)], ["mount", "-o", "loop", str(image), str(directory)]
    commands = [make, mount, ["chmod", "700", str(directory)]]
    is_mounted = all(subprocess.run(each, check=False, capture_output=True).returncode == 0 for each in commands)
    try:
        yield is_mounted
    finally:
        if is_mounted:
            subprocess.run(["umount", "--lazy", str(directory)], check=True)


def measure_faults(rates: Rates, directory: Path, options: argparse.Namespace) -> Iterator[Row]:
    """Cause the faults on a register with evidence in a directory, and those of object storage on another one."""
    from mixed_load import running_site, wait_for_snapshot  # noqa: PLC0415 - that module imports this one

    def chosen(faults: list[Fault]) -> list[Fault]:
        return [fault for fault in faults if not options.only or options.only in fault.name]

    evidence = directory / "var/evidence"
    with small_file_system(evidence) as is_small, running_site(directory) as site:
        wait_for_snapshot(site.register)
        # Without a file system of its own, the disk of this machine would be filled.
        faults = chosen([*faults_of(site.register), *([full_disk(evidence)] if is_small else [])])
        if faults:
            yield from _cause(site, faults, rates, directory, options.fault_seconds)
    if not (faults := chosen([Fault("object storage stopped", lambda: None)])):
        return
    other = directory / "object-storage"
    other.mkdir(mode=0o711)
    with running_seaweed() as seaweed, running_site(other, **store_of(seaweed)) as site:
        wait_for_snapshot(site.register)
        alerts, refusals = ("EvidenceStoreDown",), frozenset({503})
        stopped = Fault("object storage stopped", seaweed.kill, seaweed.start, alerts, refusals)
        yield from _cause(site, [stopped], rates, other, options.fault_seconds)


def store_of(seaweed: Seaweed) -> dict[str, str]:
    """Return the settings of a register with evidence in a bucket of a server."""
    return {
        "EVIDENCE_STORE": f"s3://{seaweed.create_bucket()}/register",
        "S3_ENDPOINT": seaweed.url,
        "S3_ACCESS_KEY_ID": seaweed.keys[0],
        "S3_SECRET_ACCESS_KEY": seaweed.keys[1],
    }


def _cause(site: Site, faults: list[Fault], rates: Rates, directory: Path, lasts_s: float) -> Iterator[Row]:
    from mixed_load import Samples, live_url, wait_until_read  # noqa: PLC0415 - as above

    samples = Samples(site.register)
    plan = plan_of(site, rates, live_url(site.register))
    with (
        running_prometheus(directory, site.register.port) as prometheus,
        running_load(site, plan, directory) as load,
    ):
        script = Client(site.url, plan.tokens[-1])
        person = Person(script, plan)
        restore(person)
        usual = prometheus.firing() if prometheus else set[str]()  # of this machine, such as a disk that is nearly full
        for fault in faults:
            yield from _rows_of(fault, person, load, prometheus, lasts_s)
            _wait_for_quiet(prometheus, usual)
    wait_until_read(samples)
    accepted = load.found().accepted()
    lost = accepted - samples.stored()
    yield Row(
        "confirmed uploads that are not stored, after all faults", "0", f"{len(lost)} of {len(accepted)}", not lost
    )


class Person:
    """A user who sends files and reads pages before, during and after a fault."""

    def __init__(self, script: Client, plan: Plan) -> None:
        self.script, self.pages, self.draft = script, plan.pages, ""
        self.live = Client(plan.live_url)
        self.reader = Client(script.url, address=READER)  # the register limits each address

    def prepare(self) -> None:
        """Send a draft, and wait until it is read."""
        self.draft = self.script.upload(new_log())
        path = f"/api/v1/drafts/{self.draft}/"
        wait_for(lambda: self.script.get(path).json()["state"] == "read", PATIENCE_S)

    def rows_during(self, fault: Fault, watch: Callable[[], None]) -> Iterator[Row]:
        """Send files in both ways, look at the draft, and open each public page."""
        announced = self.script.announce(LOG.stat().st_size)
        pieces = TUS | {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
        answers = {
            "form of a script": self._submit(),
            "piece": self.script.ask("PATCH", announced.headers["Location"], data=LOG.read_bytes(), headers=pieces),
        }
        watch()
        shown = ", ".join(
            f"{name}: {answer.status_code}, Retry-After {answer.headers.get('Retry-After', 'missing')}"
            for name, answer in answers.items()
        )
        are_clear = all(
            answer.status_code in fault.refusals and "Retry-After" in answer.headers for answer in answers.values()
        )
        yield Row(f"files sent during: {fault.name}", f"{min(fault.refusals)} with Retry-After", shown, are_clear)
        failed = []
        for path in self.pages:
            if self.reader.get(path).status_code != HTTPStatus.OK:
                failed.append(path)
            watch()
        text = f"{len(failed)} of {len(self.pages)} failed {failed[:3] or ''}".rstrip()
        yield Row(f"public pages during: {fault.name}", "all answer", text, not failed)

    def rows_after(self, fault: Fault) -> Iterator[Row]:
        """Submit the draft, and wait until its result is there."""
        path, started = f"/api/v1/drafts/{self.draft}/", time.monotonic()

        def is_submitted() -> bool:
            facts = {"vendor": "Exemplar", "model": "EX4", "category": "nvme-flash"}
            return self.script.ask("POST", f"{path}submit/", json=facts).status_code == HTTPStatus.CREATED

        while not (is_done := _succeeds(is_submitted)) and time.monotonic() - started < RESTORED_S:
            time.sleep(PROBE_PERIOD_S)
        found = f"submitted after {time.monotonic() - started:.1f} s" if is_done else "not submitted"
        yield Row(f"draft from before: {fault.name}", f"submitted in {RESTORED_S} s", found, is_done)

    def _submit(self) -> requests.Response:
        return self.script.ask("POST", "/api/v1/submissions/", files={"log": ("load.log", new_log())})


def _rows_of(fault: Fault, person: Person, load: Load, prometheus: Prometheus | None, lasts_s: float) -> Iterator[Row]:
    fired = dict[str, float]()
    usual = prometheus.firing() if prometheus else set()
    if fault.refusals:
        person.prepare()
    began = time.time()
    fault.begin()

    def watch() -> None:
        for name in (prometheus.firing() if prometheus else set()) - usual:
            fired.setdefault(name, time.time() - began)

    if fault.refusals:
        yield from person.rows_during(fault, watch)
    _end(fault, began + lasts_s, watch)
    took_s = restore(person, watch)
    found = load.found().since(began).failed()
    by_status = {
        status: sum(line["status"] == status for line in found) for status in {line["status"] for line in found}
    }
    text = f"restored in {took_s:.1f} s; failed requests by status (0: no answer): {by_status or 'none'}"
    yield Row(fault.name, f"service restored in {RESTORED_S} s", text, took_s <= RESTORED_S)
    if fault.refusals:
        yield from person.rows_after(fault)
    if fault.alerts:
        yield _alert_row(fault, fired, has_prometheus=prometheus is not None)


def _end(fault: Fault, at: float, watch: Callable[[], None]) -> None:
    """End a fault that lasts, when its time has come."""
    if fault.end is None:
        return
    while time.time() < at:
        time.sleep(PROBE_PERIOD_S)
        watch()
    fault.end()


def _alert_row(fault: Fault, fired: dict[str, float], *, has_prometheus: bool) -> Row:
    in_time = {name for name, after_s in fired.items() if after_s <= ALERT_S}
    shown = ", ".join(f"{name} after {after_s:.0f} s" for name, after_s in fired.items()) or "none"
    expected = f"{' or '.join(fault.alerts)} in {ALERT_S} s"
    is_met = bool(in_time.intersection(fault.alerts))
    return Row(f"alert: {fault.name}", expected, shown if has_prometheus else "no Prometheus", is_met)


def new_log() -> bytes:
    """Return a log that no one has sent before."""
    return LOG.read_bytes() + uuid4().hex.encode()


def restore(person: Person, watch: Callable[[], None] = lambda: None) -> float:
    """Wait until a page, an upload and its reading succeed and all parts answer, one after the other.

    Return the seconds.
    """
    script, started, submission = person.script, time.monotonic(), ""

    def is_served() -> bool:
        return script.get("/status/").status_code == HTTPStatus.OK

    def submit() -> bool:
        nonlocal submission
        answer = script.ask("POST", "/api/v1/submissions/", files={"log": ("load.log", new_log())})
        submission = answer.json()["id"] if answer.status_code == HTTPStatus.CREATED else ""
        return bool(submission)

    def is_read() -> bool:
        answer = script.get(f"/api/v1/submissions/{submission}/")
        return answer.status_code == HTTPStatus.OK and answer.json()["reading"]["state"] in {"done", "failed"}

    def are_all_ready() -> bool:
        parts = script.get("/readyz"), person.live.get("/healthz")
        return all(answer.status_code == HTTPStatus.OK for answer in parts)

    for step in (is_served, submit, is_read, are_all_ready):
        while not _succeeds(step):
            if time.monotonic() - started > PATIENCE_S:
                return float("inf")
            watch()
            time.sleep(PROBE_PERIOD_S)
    return time.monotonic() - started


def _succeeds(step: Callable[[], bool]) -> bool:
    try:
        return step()
    except (requests.RequestException, ValueError, KeyError):
        return False


def _wait_for_quiet(prometheus: Prometheus | None, usual: set[str]) -> None:
    """Wait until no alert of the last fault fires."""
    deadline = time.monotonic() + PATIENCE_S / 2
    while prometheus and prometheus.firing() - usual and time.monotonic() < deadline:
        time.sleep(PROBE_PERIOD_S)
