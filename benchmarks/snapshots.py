"""Public pages compared with a bare WSGI program on the same server, and with nginx, which return the same bytes.

Needs DATABASE_URL (a PostgreSQL where it may create and drop its own database), `wrk`, which takes turns with the
servers, and nginx. Then requests for every page of the snapshot come open-loop at a fixed rate, each timed from when
it was due. While it measures these pages, the register's own server has no database: only the snapshot answers. The
last row is a page of 5,000 products with a filter, which Django renders once.
"""

import argparse
import http.client
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from simulated_register import simulated_register  # isort: split

from django.db import connection
from generated_products import generate

from results.catalogue.importer import import_catalogue
from tests.register import ROOT, free_port, wait_for
from webapp.deployment.servers import WEB_THREADS
from webapp.register.snapshots import store, updates

PAGES = ("/drives/nvme-flash/", "/drive/sandisk-dc-sn861-6400gb/", "/drive/sandisk-dc-sn861-6400gb/badge.svg")
FILTERED, PRODUCTS = "/drives/nvme-flash/?min_tps=100&max_1ms=4.5", 5000
NOWHERE = "postgresql:///drivecert?host=/nowhere"
CONNECTIONS = 16
RATE = re.compile(r"Requests/sec:\s+([\d.]+)")
NGINX = """daemon off; worker_processes {processes}; pid {directory}/pid; error_log {directory}/error; events {{}}
http {{ access_log off; client_body_temp_path {directory}/body; proxy_temp_path {directory}/proxy;
fastcgi_temp_path {directory}/fastcgi; uwsgi_temp_path {directory}/uwsgi; scgi_temp_path {directory}/scgi;
server {{ listen 127.0.0.1:{port}; root {directory}; default_type text/html; }} }}"""
HEAD = re.compile(rb"HTTP/1.1 (\d+) .*?\r\ncontent-length: (\d+)\r\n.*?\r\n\r\n", re.DOTALL | re.IGNORECASE)
PERCENTILES = "done = function(_, latency) io.write('p95us ', latency:percentile(95), '\\n') end"


@dataclass(frozen=True)
class Closed:
    """Result of a closed loop: requests per second, p95 in ms, server CPU per request in us."""

    per_s: float
    p95_ms: float
    cpu_us: float


@contextmanager
def server(application: str, environment: dict[str, str]) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Serve an application as the register's own supervisor does; yield port and main process."""
    port: int = free_port()
    processes = settings.WEB_PROCESSES
    options = ["--interface", "wsgi", "--host", "127.0.0.1", "--port", str(port), "--workers", str(processes)]
    options += ["--blocking-threads", str(WEB_THREADS), application]
    process = subprocess.Popen(
        [sys.executable, "-m", "granian", *options],
        cwd=ROOT,
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(lambda: page_status(port, "/drives/nvme-flash/") == 200)
        yield port, process
    finally:
        process.terminate()
        process.wait(20)


def page_status(port: int, path: str) -> int:
    """Return the status of a page; 0 while no server answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            answer.read()
            return int(answer.status)
    except OSError:
        return 0


def cpu_s(process: subprocess.Popen[bytes]) -> float:
    """Return the processor time of a server and its own processes so far."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    fields = [Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split() for pid in [process.pid, *children]]
    return sum(int(each[11]) + int(each[12]) for each in fields) / os.sysconf("SC_CLK_TCK")


@contextmanager
def nginx(content: Path) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Serve a file with nginx, as `/content`; yield port and main process."""
    port, processes = free_port(), len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o755)  # nginx reads it as another user
        shutil.copy(content, directory / "content")
        (directory / "conf").write_text(NGINX.format(directory=directory, processes=processes, port=port))
        process = subprocess.Popen(["nginx", "-c", str(directory / "conf")], stderr=subprocess.DEVNULL)
        try:
            wait_for(lambda: page_status(port, "/content") == 200)
            yield port, process
        finally:
            process.terminate()
            process.wait(20)


def closed_loop(served: tuple[int, subprocess.Popen[bytes]], path: str, seconds: int, script: Path) -> Closed:
    """Request a page repeatedly on a few connections."""
    port, process = served
    before = cpu_s(process)
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", str(script), "-H", "Accept-Encoding: gzip"]
    done = subprocess.run([*command, f"http://127.0.0.1:{port}{path}"], capture_output=True, text=True, check=True)
    if "Non-2xx" in done.stdout or "Socket errors" in done.stdout:
        raise SystemExit(f"{path}: not every request was answered:\n{done.stdout}")
    match, p95 = RATE.search(done.stdout), re.search(r"p95us (\d+)", done.stdout)
    if match is None or p95 is None:
        raise SystemExit(f"unexpected output of wrk:\n{done.stdout}")
    per_s = float(match[1])
    return Closed(per_s, int(p95[1]) / 1000, (cpu_s(process) - before) / (per_s * seconds) * 1e6)


def open_loop(port: int, paths: list[str], per_s: int, seconds: int) -> list[float]:
    """Send requests at a fixed rate; return the latency of each from its due time, in ms, sorted."""
    latencies: list[float] = []
    begin = time.perf_counter() + 0.5

    def send_share(first: int) -> None:
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            for number in range(first, per_s * seconds, CONNECTIONS):
                due = begin + number / per_s
                time.sleep(max(0.0, due - time.perf_counter()))
                exchange(connection, paths[number % len(paths)])
                latencies.append((time.perf_counter() - due) * 1000)

    threads = [threading.Thread(target=send_share, args=(first,)) for first in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(latencies)


def exchange(connection: socket.socket, path: str) -> None:
    """Request a page and read its bytes with little work, because the server uses the same processors."""
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: gzip\r\n\r\n".encode())
    received = b""
    while not (head := HEAD.match(received)):
        received += connection.recv(1 << 16)
    if head[1] != b"200":
        raise SystemExit(f"{path}: {head[1].decode()}")
    left = head.end() + int(head[2]) - len(received)
    while left > 0:
        left -= len(connection.recv(1 << 16))


def bare(directory: Path, port: int, path: str) -> dict[str, str]:
    """Store the register's response for a page; return the environment of the bare program."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
    answer = connection.getresponse()
    content = answer.read()
    headers = [each for each in answer.getheaders() if each[0].lower() not in {"date", "server", "connection"}]
    (directory / "content").write_bytes(content)
    answer_file = directory / "answer.json"
    answer_file.write_text(json.dumps({"headers": headers, "content": str(directory / "content")}))
    return {"BARE_ANSWER": str(answer_file)}


@contextmanager
def marked_compared(root: Path) -> Iterator[None]:
    """Mark the snapshot as recently compared, as a worker does."""
    ended = threading.Event()

    def mark() -> None:
        while not ended.wait(10):
            store.record_comparison(root)

    thread = threading.Thread(target=mark)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def measure(directory: Path, seconds: int, rounds: int, per_s: int) -> None:
    """Print both tables."""
    script = directory / "p95.lua"
    script.write_text(PERCENTILES)
    own = {"DRIVECERT_DATA": str(directory), "DATABASE_URL": NOWHERE, "DJANGO_SETTINGS_MODULE": "webapp.settings"}
    print("| page | response, bytes | register /s | bare /s | nginx /s | register / bare | register / nginx |", end="")
    print(" register p95, ms | CPU us: register | bare |\n|---|---|---|---|---|---|---|---|---|---|")
    with marked_compared(settings.SNAPSHOT_DIR), server("webapp.wsgi:application", own) as register:
        for path in PAGES:
            print(compared(directory, register, path, seconds, rounds, script), flush=True)
        paths = [path for path in store.current(settings.SNAPSHOT_DIR).entries if "?" not in path]  # type: ignore[union-attr]
        times = open_loop(register[0], paths, per_s, seconds * 2)
    generate(PRODUCTS)
    database = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}")
    with (
        marked_compared(settings.SNAPSHOT_DIR),
        server("webapp.wsgi:application", own | {"DATABASE_URL": database.geturl()}) as register,
    ):
        print(compared(directory, register, FILTERED, seconds, rounds, script), flush=True)
    p50, p95, p99 = (times[int(len(times) * share)] for share in (0.5, 0.95, 0.99))
    print(f"\nOpen loop, {per_s}/s over {len(paths)} pages, {len(times)} requests: ", end="")
    print(f"p50 {p50:.2f} ms, p95 {p95:.2f} ms, p99 {p99:.2f} ms, longest {times[-1]:.1f} ms")


def compared(
    directory: Path, register: tuple[int, subprocess.Popen[bytes]], path: str, seconds: int, rounds: int, script: Path
) -> str:
    """Request a page from the register, the bare program and nginx in turn; return a line of the table."""
    environment = bare(directory, register[0], path)
    content = directory / "content"
    with server("benchmarks.bare_answer:application", environment) as alone, nginx(content) as best:
        found = [
            (
                closed_loop(register, path, seconds, script),
                closed_loop(alone, path, seconds, script),
                closed_loop(best, "/content", seconds, script),
            )
            for _ in range(rounds)
        ]
    return row(path, content.stat().st_size, found)


def row(path: str, size: int, rounds: list[tuple[Closed, Closed, Closed]]) -> str:
    """Return a line of the table: medians over the rounds, with the extremes of the ratios."""
    ours, bares, bests = zip(*rounds, strict=True)
    cells = [
        path,
        f"{size:,}",
        *(f"{statistics.median(each.per_s for each in of):,.0f}" for of in (ours, bares, bests)),
        *(ratio_text([our.per_s / their.per_s for our, their in zip(ours, of, strict=True)]) for of in (bares, bests)),
        f"{statistics.median(each.p95_ms for each in ours):.2f}",
        *(f"{statistics.median(each.cpu_us for each in of):.0f}" for of in (ours, bares)),
    ]
    return f"| {' | '.join(cells)} |"


def ratio_text(ratios: list[float]) -> str:
    """Return the median of some ratios, with the extremes."""
    return f"**{statistics.median(ratios):.2f}** ({min(ratios):.2f} - {max(ratios):.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=4, help="of each closed loop; the open loop takes twice that")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", type=int, default=2000, help="of the open loop, a second")
    options = parser.parse_args()
    for program in ("wrk", "nginx"):
        if shutil.which(program) is None:
            raise SystemExit(f"no {program} on this machine: install the package {program}")
    with tempfile.TemporaryDirectory() as name, simulated_register():
        settings.DATA_DIR = Path(name)
        settings.SNAPSHOT_DIR = Path(name) / "snapshots"
        import_catalogue()
        began, made = time.process_time(), updates.update_snapshot()
        if made is None:
            raise SystemExit("another process is writing a snapshot")
        print(f"Snapshot of {made.rendered} pages and files: {time.process_time() - began:.1f} s of CPU\n", flush=True)
        measure(Path(name), options.seconds, options.rounds, options.rate)


if __name__ == "__main__":
    main()
