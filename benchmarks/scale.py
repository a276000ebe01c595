"""Cost of every list at two sizes of a register: processor time, memory, statements, rows, bytes; and a first page.

    python -m benchmarks.scale [--runs 100000] [--products 10000] [--hosts 1000]

A PostgreSQL of its own gets two databases, one with a hundredth of these rows. A process for each of them requests
every address; the two take turns, since the speed of a machine changes within minutes.
With --directory, the cluster stays there, and a later call measures it again.
Before each request another transaction ends, as on a busy register, and the address is new where it has parameters,
so that no cache answers for the whole page. The result is in benchmarks/results/scale.md.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg.sql import SQL, Identifier

ROOT = Path(__file__).resolve().parent.parent
for folder in (ROOT, ROOT / "benchmarks"):
    sys.path.insert(0, str(folder))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

RESULT = ROOT / "benchmarks/results/scale.md"
SMALLER = 100  # the small register has a hundredth of the rows
HOSTS_MIN = 110  # of the small register: a full page of each list, as the large one has
REPEATS, PATIENCE_MS = 7, 5000  # of both registers; a page that takes longer is requested less often
RATIO_MAX = 1.5
PAGE_ROWS_MAX = 2000  # the longest page of a list: a part of the sitemap
ROW_MARKS = (b"<tr", b"<entry", b"<li", b"<loc>")  # of the rows of a page, a feed or a sitemap
FIRST_PAGE_S, DUMP_S, DUMP_MB = 2.0, 600, 500
MANY_TIMES = 5  # the products of the large register, in one with a result of each: what a first page costs there
SIZING = "/sizing/?reads={n}000&writes={n}000&data={n}"
numbers = count(1)

# {n} is a number that no earlier request had; {product}, {run}, {host}, {device} and {dispatch} are of one row.
PUBLIC = (
    "/", "/?min_device_tps={n}", "/drives/", "/drives/?min_tps={n}", "/drives/nvme-flash/",
    "/drives/nvme-flash/?min_tps={n}", "/drives/nvme-flash/?limit_1ms=3.{n}",
    "/drives/nvme-flash/?sort=drive&min_tps={n}", "/drives/?page=3&min_tps={n}", "/drives/?q=pm{n}",
    "/drives/historical/", "/drives/rows.json", "/drive/{product}/", "/drive/{product}/?min_device_tps={n}",
    "/drive/{product}/feed.atom", "/drive/{product}/badge.svg", "/compare/",
    "/compare/?drive={product}&drive={other}", "/search/?q=intel+{n}", "/search/?q=PM{n}", "/runs/{run}/",
    "/objections/", "/news/", "/news/feed.atom", "/feed.atom", "/drives/nvme-flash/feed.atom",
    "/vendors/intel/feed.atom", "/about/", "/nines/", SIZING, "/check/",
    "/ycsb/", "/ycsb/claims/", "/explain/", "/sitemap.xml", "/sitemap-1.xml", "/status/", "/data/",
    "/sizing/?limit_1ms=3.{n}", "/sizing/?of=instances&data={n}", "/drives/cloud/?min_tps={n}",
)  # fmt: skip
API = (
    "runs/", "products/", "products/{product}/", "runs/{run}/", "figures/?min_tps={n}",
    "landscape/?min_tps={n}", "sizing/?reads={n}000&writes={n}000&data={n}", "claims/",
    "published-figures/", "news/", "objections/", "certificates/", "submissions/", "review/", "drafts/",
    "lab/hosts/", "lab/devices/", "lab/drives/", "lab/dispatches/", "lab/maintenance/", "lab/calendar/",
    "lab/campaigns/", "webhooks/",
)  # fmt: skip
STAFF = (
    "/submissions/", "/submissions/review/", "/submissions/certificate-requests/", "/review/makers/",
    "/review/products/", "/takedowns/", "/hidden-files/", "/stored-files/", "/lab/", "/lab/calendar/", "/lab/drives/",
    "/lab/campaigns/", "/lab/hosts/{host}/", "/lab/devices/{device}/", "/lab/dispatches/{dispatch}/",
)  # fmt: skip


def peak_memory_mb(work: Callable[[], Any]) -> float:
    """Return by how much the resident memory of this process was larger while some work was done, MB."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = _status_mb("VmRSS")
    work()
    return max(0.0, _status_mb("VmHWM") - before)


def _status_mb(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith(f"{name}:"))


@contextmanager
def counted_rows() -> Iterator[list[int]]:
    """Yield a list that gets the number of rows of each statement."""
    from django.db import connection  # noqa: PLC0415 - the settings are read later

    rows: list[int] = []

    def execute(run: Any, sql: Any, params: Any, many: Any, context: Any) -> Any:
        result = run(sql, params, many, context)
        rows.append(max(0, context["cursor"].rowcount))
        return result

    with connection.execute_wrapper(execute):
        yield rows


class Site:
    """The register of this process, as a visitor and as a member of staff see it."""

    def __init__(self) -> None:
        from django.test import Client  # noqa: PLC0415 - the settings are read later

        from results.models import Run  # noqa: PLC0415
        from runners.models import Device, Dispatch, Host  # noqa: PLC0415
        from webapp.accounts.models import APIToken, Scope, User  # noqa: PLC0415
        from webapp.accounts.tokens.rules import issue_token  # noqa: PLC0415

        staff = User.objects.get(username="sam")
        organisation = staff.memberships.get().organisation
        APIToken.objects.all().delete()
        _, secret = issue_token(staff, organisation, "scale", list(Scope))
        own: dict[str, Any] = {"raise_request_exception": False, "SERVER_NAME": "localhost"}
        as_browsers = {"Accept-Encoding": "gzip"}  # of the data file, which no browser requests uncompressed
        self.clients = {
            "visitor": Client(**own, headers=as_browsers), "staff": Client(**own),
            "script": Client(**own, headers={"Authorization": f"Bearer {secret}"}),
        }  # fmt: skip
        self.user = staff
        self.sign_in()
        run = Run.objects.public().filter(submission__isnull=False).select_related("product").order_by("pk")[10]
        other = Run.objects.public().exclude(product=run.product).select_related("product").order_by("pk")[20]
        self.names: dict[str, object] = {
            "product": run.product.slug if run.product else "",
            "other": other.product.slug if other.product else "",
            "run": run.public_id,
            "host": Host.objects.order_by("pk")[1].name,
            "device": Device.objects.order_by("pk")[1].pk,
            "dispatch": Dispatch.objects.order_by("pk")[0].public_id,
        }

    def prepare(self) -> None:
        """Forget the counted requests, so that no limit refuses the next one."""
        from django.core.cache import cache  # noqa: PLC0415 - the settings are read later

        cache.clear()

    def sign_in(self) -> None:
        """Sign in the client of the staff: Django's client has the stored hash as its cookie, a browser has the key."""
        from django.conf import settings  # noqa: PLC0415 - the settings are read later
        from django.contrib.sessions.models import Session  # noqa: PLC0415
        from django.utils.crypto import get_random_string  # noqa: PLC0415

        from webapp.accounts.sessions import SessionStore, hash_key  # noqa: PLC0415

        staff = self.clients["staff"]
        staff.force_login(self.user)
        stored, key = staff.cookies[settings.SESSION_COOKIE_NAME].value, get_random_string(32)
        if Session.objects.filter(session_key=stored).update(session_key=hash_key(key)):  # not if a test did it
            staff.cookies[settings.SESSION_COOKIE_NAME] = key
        session = SessionStore(hash_key(staff.cookies[settings.SESSION_COOKIE_NAME].value))
        # Some pages require that the password was entered recently; these are keys of django-allauth.
        session["account_authentication_methods_user"] = str(self.user.pk)
        session["account_authentication_methods"] = [{"method": "password", "at": time.time()}]
        session.save()

    def get(self, pattern: str, client: str = "visitor") -> bytes:
        """Return the content of a new address of a pattern. Raises RuntimeError if it is not the requested page."""
        address = pattern.format(n=next(numbers), **self.names)
        response: Any = self.clients[client].get(address, follow=True)
        content = b"".join(response) if response.streaming else response.content
        if response.status_code != HTTPStatus.OK or response.request["PATH_INFO"].startswith("/accounts/"):
            raise RuntimeError(f"{address} sent status {response.status_code} of {response.request['PATH_INFO']}")
        return bytes(content)


def addresses() -> Iterator[tuple[str, str]]:
    """Yield the pattern of each address, and who opens it."""
    yield from ((path, "visitor") for path in PUBLIC)
    yield from ((f"/api/v1/{path}", "script") for path in API)
    yield from ((path, "staff") for path in STAFF)


def listed_count(content: bytes) -> int:
    """Return the number of rows that a page, a feed or a list of the API has, or of suggestions for a field.

    >>> listed_count(b'{"results": [1, 2], "next": null}'), listed_count(b"<tr><td>1</td></tr><tr class='x'></tr>")
    (2, 2)
    """
    if content.startswith(b"{"):
        return len(json.loads(content).get("results", ()))
    suggestions = sum(part.partition(b"</datalist>")[0].count(b"<option") for part in content.split(b"<datalist")[1:])
    return max(suggestions, *map(content.count, ROW_MARKS))


def processor_ns() -> int:
    """Return the processor time of this process and of its session in PostgreSQL: other programs do not disturb it."""
    from django.db import connection  # noqa: PLC0415 - the settings are read later

    connection.ensure_connection()
    session = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat").read_text()
    return time.process_time_ns() + int(session.split()[0])


def end_a_transaction() -> None:
    """Commit a transaction that changes no result, as each request to a busy register does."""
    from webapp.accounts.models import User  # noqa: PLC0415 - the settings are read later

    User.objects.filter(username="sam").update(last_login="2026-01-01T00:00:00Z")


def first_request(site: Site, pattern: str, client: str) -> float:
    """Return the memory that the first request of an address needs, MB."""
    site.prepare()
    return peak_memory_mb(lambda: site.get(pattern, client))


def request(site: Site, pattern: str, client: str) -> dict[str, float]:
    """Return the cost of one request of an address: processor time, statements, rows and bytes."""
    end_a_transaction()
    site.prepare()
    with counted_rows() as rows:
        begun = processor_ns()
        content = site.get(pattern, client)
        spent_ns = processor_ns() - begun
    cost = {"ms": spent_ns / 1e6, "statements": len(rows), "rows": sum(rows), "bytes": len(content)}
    return cost | {"listed": listed_count(content)}


def fill_database(runs: int, products: int, hosts: int) -> dict[str, float]:
    """Fill the database of this process up to these numbers, and return its runs and its bytes."""
    from django.core.management import call_command  # noqa: PLC0415 - the settings are read first
    from django.db import connection  # noqa: PLC0415
    from generated_register import fill  # noqa: PLC0415

    from results.lifecycle.listing_changes import fold_changes  # noqa: PLC0415
    from results.models import Organisation, Run  # noqa: PLC0415
    from webapp.accounts.models import Membership, User  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    if not User.objects.exists():
        User.objects.create_superuser("sam")
    fill(runs, products, hosts)
    fold_changes()  # a running register does this in a task
    if not Membership.objects.exists():
        lab = Organisation.objects.order_by("pk")[0]
        Organisation.objects.filter(pk=lab.pk).update(kind="lab")
        Membership.objects.create(user=User.objects.get(), organisation=lab, role="owner")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        return {"bytes": cursor.fetchone()[0], "runs": Run.objects.count()}


def execute_commands() -> None:
    """Execute the commands of the standard input, one on each line, and print what they return."""
    site = Site()
    site.get("/drives/nvme-flash/")
    commands: dict[str, Callable[..., Any]] = {
        "first-request": first_request, "request": request, "sizing-after-a-change": sizing_after_a_change,
        "memory": lambda _: _status_mb("VmRSS"),
    }  # fmt: skip
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        print(json.dumps(commands[name](site, *arguments)), flush=True)


def prepare() -> dict[str, float]:
    """Return the cost of the file that `manage.py prepare` of a new release writes."""
    from webapp.register.drives.store.column_store import prepare_file  # noqa: PLC0415 - the settings are read first

    found: dict[str, float] = {}

    def work() -> None:
        begun_ns = processor_ns()
        prepare_file()
        found["cpu_s"] = (processor_ns() - begun_ns) / 1e9

    found["mb"] = peak_memory_mb(work)
    return found


def first_page(site: Site) -> dict[str, float]:
    """Return the cost of the first page of drives in this process, after its modules are loaded."""
    site.get("/explain/")
    found: dict[str, float] = {}

    def work() -> None:
        begun, begun_ns = time.perf_counter(), processor_ns()
        site.get("/drives/nvme-flash/?min_tps={n}")
        found["s"], found["cpu_s"] = time.perf_counter() - begun, (processor_ns() - begun_ns) / 1e9

    found["mb"] = peak_memory_mb(work)
    return found


def sizing_after_a_change(site: Site) -> dict[str, float]:
    """Return the cost of the first request of the sizing page after a listed run has changed: caches have no result."""
    from results.models import Run  # noqa: PLC0415 - the settings are read later

    site.get(SIZING)
    run = Run.objects.get(public_id=site.names["run"])
    Run.objects.filter(pk=run.pk).update(notes=f"{run.notes}.")
    with counted_rows() as rows:
        begun = processor_ns()
        site.get(SIZING)
        spent_ns = processor_ns() - begun
    Run.objects.filter(pk=run.pk).update(notes=run.notes)
    return {"ms": spent_ns / 1e6, "rows": sum(rows)}


def dump(environment: dict[str, str]) -> dict[str, float]:
    """Return time and peak memory of a process that writes a dump."""
    directory = Path(environment["DRIVECERT_DATA"]) / "trial-dump"
    begun = time.monotonic()
    command = [sys.executable, "manage.py", "dump"]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    shutil.rmtree(directory, ignore_errors=True)
    return {"s": time.monotonic() - begun, "mb": usage.ru_maxrss / 1000, "status": process.returncode}


def in_new_process(environment: dict[str, str], *arguments: str) -> dict[str, Any]:
    """Return what a new process with these arguments prints."""
    command = [sys.executable, "-m", "benchmarks.scale", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def fill_register(
    environment: dict[str, str], name: str, sizes: Sequence[int]
) -> tuple[dict[str, str], dict[str, Any]]:
    """Fill a database with numbers of runs, products and hosts. Return its environment, and what its start costs."""
    url = urlsplit(environment["DATABASE_URL"])
    with psycopg.connect(environment["DATABASE_URL"], autocommit=True) as session:
        if not session.execute("SELECT FROM pg_database WHERE datname = %s", [name]).fetchall():
            session.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
    own = {"DATABASE_URL": urlunsplit(url._replace(path=f"/{name}"))}
    own["DRIVECERT_DATA"] = f"{environment['DRIVECERT_DATA']}/{name}"
    # Each part has its own process: what it leaves in memory must not count for the next one.
    found = in_new_process(environment | own, "--fill", *map(str, sizes))
    found["prepared"] = in_new_process(environment | own, "--prepare")
    found["first"] = in_new_process(environment | own, "--first")
    return environment | own, found


class Register:
    """A database with a process that requests pages of it, on command."""

    def __init__(self, environment: dict[str, str], name: str, sizes: Sequence[int]) -> None:
        self.environment, self.found = fill_register(environment, name, sizes)
        self.found["pages"] = {}
        self.process: Any = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.scale", "--commands"],
            cwd=ROOT, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def execute(self, command: str, *arguments: str) -> Any:
        """Return what a command of the process returns. Raises RuntimeError if the process has ended."""
        print(json.dumps([command, *arguments]), file=self.process.stdin, flush=True)
        if not (line := self.process.stdout.readline()):
            raise RuntimeError(f"the process that requests pages ended with exit status {self.process.wait()}")
        return json.loads(line)

    def end(self) -> dict[str, Any]:
        """Measure what is measured once, and end the process. Return all results."""
        self.found["rss_mb"] = self.execute("memory")
        self.found["changed"] = self.execute("sizing-after-a-change")
        self.found["changed_rss_mb"] = self.execute("memory")
        self.process.communicate()
        self.found["dump"] = dump(self.environment)
        return self.found


def measure_page(registers: Sequence[Register], pattern: str, client: str) -> None:
    """Measure an address in all registers: medians of requests in turn, after the first one of each."""
    memory = [each.execute("first-request", pattern, client) for each in registers]
    costs: list[list[dict[str, float]]] = [[] for _ in registers]
    while len(costs[0]) < REPEATS and sum(cost["ms"] for found in costs for cost in found) < PATIENCE_MS:
        turn = list(zip(registers, costs, strict=True))
        for register, found in reversed(turn) if len(costs[0]) % 2 else turn:
            found.append(register.execute("request", pattern, client))
    for register, found, mb in zip(registers, costs, memory, strict=True):
        median = statistics.median(cost["ms"] for cost in found)
        register.found["pages"][pattern] = found[-1] | {"ms": median, "mb": mb}
    shown = " and ".join(f"{register.found['pages'][pattern]['ms']:.1f} ms" for register in registers)
    print(f"{pattern}: {shown}", file=sys.stderr, flush=True)


@contextmanager
def servers(kept: Path | None) -> Iterator[dict[str, str]]:
    """Yield an environment with servers of its own; they stay in a directory if it is given."""
    from webapp.embedded import Postgres, Redis  # noqa: PLC0415
    from webapp.supervisor.data_directory import DataDirectory  # noqa: PLC0415

    directory = DataDirectory(kept or Path(tempfile.mkdtemp(prefix="drivecert-scale-")), durable=False)
    directory.create()
    started = []
    try:
        for kind in (Postgres, Redis):
            started.append(kind(directory))
            started[-1].start()
        named = {"DATABASE_URL": started[0].url, "REDIS_URL": started[1].url}
        yield os.environ | named | {"DRIVECERT_DATA": str(directory.path), "EXAMPLE_RUNS": "no"}
    finally:
        for server in reversed(started):
            server.child.stop()
        directory.remove_sockets()
        if kept is None:
            shutil.rmtree(directory.path, ignore_errors=True)


def ratio(large: dict[str, float], small: dict[str, float]) -> float:
    """Return how many times as long a page takes. Differences of 2 ms are noise."""
    return large["ms"] / max(small["ms"], 2.0)


def fill_ratio(large: dict[str, float], small: dict[str, float]) -> float:
    """Return how many times as many rows a page has because the list of the small register does not fill it.

    1 for a page that is full in both registers, and for one that has more rows than any page of a list.
    """
    is_page = large["listed"] <= PAGE_ROWS_MAX
    return max(1.0, large["listed"] / max(small["listed"], 1)) if is_page else 1.0


def table(small: dict[str, Any], large: dict[str, Any], many: dict[str, Any]) -> list[str]:
    """Return the results as a document, the worst pages first. `many` is what a start costs with many products."""
    from accounts import conditions  # noqa: PLC0415 - it needs Playwright, which a test of this file does not

    per_run = (large["bytes"] - small["bytes"]) // (large["runs"] - small["runs"])
    times = {pattern: ratio(found, small["pages"][pattern]) for pattern, found in large["pages"].items()}
    # If the small register does not fill a page, the ratio of the times of a row counts.
    fills = {pattern: fill_ratio(found, small["pages"][pattern]) for pattern, found in large["pages"].items()}
    ratios = {pattern: times[pattern] / fills[pattern] for pattern in times}
    worst = sorted(ratios, key=lambda pattern: -ratios[pattern])
    lines = ["# Results of `scale.py`", "", "| condition | value |", "|---|---|"]
    lines += [f"| {name} | {value} |" for name, value in conditions().items()]
    first, written = large["first"], large["dump"]
    lines += [
        *("", "| measure | found | target |", "|---|---|---|"),
        f"| runs | {small['runs']:,} and {large['runs']:,} | |",
        f"| database bytes for each run | {per_run:,} | stated |",
        f"| column file of a new release, which `manage.py prepare` writes, CPU s (MB) | "
        f"{large['prepared']['cpu_s']:.1f} ({large['prepared']['mb']:.0f}) | - |",
        f"| first page of a new process, s (CPU s) | {small['first']['s']:.2f} and {first['s']:.2f} "
        f"({first['cpu_s']:.2f}) | {FIRST_PAGE_S:.0f} |",
        f"| the same with {many['runs']:,} products that have a result each, s (CPU s) | {many['first']['s']:.2f} "
        f"({many['first']['cpu_s']:.2f}) | {FIRST_PAGE_S:.0f} |",
        f"| `/sizing/`, first request after a change, CPU ms (rows) | {small['changed']['ms']:.0f} and "
        f"{large['changed']['ms']:.0f} ({small['changed']['rows']:,} and {large['changed']['rows']:,}) | - |",
        f"| memory of the process after all pages, MB | {small['rss_mb']:.0f} and {large['rss_mb']:.0f} "
        f"| {RATIO_MAX} times |",
        f"| the same after a change and a request of `/sizing/`, MB | {small['changed_rss_mb']:.0f} and "
        f"{large['changed_rss_mb']:.0f} | {RATIO_MAX} times |",
        f"| dump, s | {small['dump']['s']:.0f} and {written['s']:.0f} (exit status {written['status']}) | {DUMP_S} |",
        f"| dump, peak memory, MB | {small['dump']['mb']:.0f} and {written['mb']:.0f} | {DUMP_MB} |",
        f"| pages over {RATIO_MAX} times | {sum(each > RATIO_MAX for each in ratios.values())} of {len(worst)} | 0 |",
        *("", "If the list of the small register does not fill a page, the ratio is of the times of a listed row.", ""),
        "| address | CPU ms | ratio | listed | statements | rows | MB more | bytes |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for pattern in worst:
        one, other = small["pages"][pattern], large["pages"][pattern]
        pairs = [f"{one[name]:,.0f} -> {other[name]:,.0f}" for name in ("listed", "statements", "rows", "mb", "bytes")]
        mark = "**" if ratios[pattern] > RATIO_MAX else ""
        of_row = f" a row ({times[pattern]:.2f} a page)" if fills[pattern] > 1 else ""
        spent = f"{one['ms']:.1f} -> {other['ms']:.1f}"
        lines.append(f"| `{pattern}` | {spent} | {mark}{ratios[pattern]:.2f}{mark}{of_row} | {' | '.join(pairs)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--products", type=int, default=10_000)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--directory", type=Path, help="where the cluster stays for a later call")
    parser.add_argument("--fill", type=int, nargs=3, help=argparse.SUPPRESS)
    for part in ("--prepare", "--first", "--commands"):
        parser.add_argument(part, action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fill or options.prepare or options.first or options.commands:
        import django  # noqa: PLC0415

        django.setup()
        if options.commands:
            execute_commands()
            return
        found = fill_database(*options.fill) if options.fill else prepare() if options.prepare else first_page(Site())
        print(json.dumps(found))
        return
    sizes = (options.runs, options.products, options.hosts)
    with servers(options.directory) as environment:
        runs, products, hosts = (size // SMALLER for size in sizes)
        registers = (
            Register(environment, "small", (runs, products, max(hosts, HOSTS_MIN))),
            Register(environment, "large", sizes),
        )
        results = MANY_TIMES * options.products
        _, many = fill_register(environment, "products", (results, results, HOSTS_MIN))
        for pattern, client in addresses():
            measure_page(registers, pattern, client)
        small, large = (register.end() for register in registers)
    lines = table(small, large, many)
    print("\n".join(lines))
    RESULT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
