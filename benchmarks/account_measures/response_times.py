"""Response times that must not reveal what another organisation sent: pairs of requests, known and unknown.

Each pair asks once for what exists, under embargo or as a draft of the other organisation, and once for what does not;
the order alternates. A route reveals nothing if the 99 % interval of the median difference is within +-1 ms or +-3 % of
the median time. A delay planted in one more series must be detected by the same test.
"""

import math
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import kill
from signal import SIGCONT, SIGSTOP
from uuid import uuid4

from account_measures import people
from account_measures.one_submission import FACTS
from account_measures.site import TUS, Client, Row, Site, wait_for, wait_until_read

Ask = Callable[[int], int]  # a request of a pair; returns the status
PLANTED_S = 0.003
ALLOWED_MS, ALLOWED_RATIO = 1.0, 0.03
NORMAL_99 = 2.576
TARGET = "99 % interval of the median difference within +-1 ms or +-3 %"


@dataclass(frozen=True)
class Difference:
    """The interval of the median difference of pairs, and the median time, in ms."""

    low: float
    high: float
    median: float

    @property
    def allowed(self) -> float:
        """Return the largest difference that reveals nothing."""
        return max(ALLOWED_MS, ALLOWED_RATIO * self.median)

    @property
    def is_within(self) -> bool:
        """Return whether the whole interval is allowed."""
        return -self.allowed <= self.low and self.high <= self.allowed

    @property
    def is_outside(self) -> bool:
        """Return whether no value of the interval is allowed."""
        return self.low > self.allowed or self.high < -self.allowed

    @property
    def is_detected(self) -> bool:
        """Return whether zero is not in the interval, and the route does not pass."""
        return not self.is_within and self.low > 0


def difference_of(pairs: list[tuple[float, float]]) -> Difference:
    """Return the interval of the median difference by order statistics, which assume no distribution."""
    differences = sorted(1000 * (known - unknown) for known, unknown in pairs)
    half = NORMAL_99 * math.sqrt(len(differences)) / 2
    low = max(0, math.floor(len(differences) / 2 - half) - 1)
    high = min(len(differences) - 1, math.ceil(len(differences) / 2 + half))
    median = statistics.median(1000 * each for pair in pairs for each in pair)
    return Difference(differences[low], differences[high], median)


def interleaved(known: Ask, unknown: Ask, pairs: int, planted_s: float = 0) -> list[tuple[float, float]]:
    """Return the seconds of each pair. Raises ValueError if the two kinds have different statuses."""
    found = []
    for number in range(pairs + 1):
        order = (known, unknown) if number % 2 else (unknown, known)
        taken, statuses = {}, set()
        for ask in order:
            started = time.perf_counter()
            statuses.add(ask(number))
            if planted_s and ask is known:
                time.sleep(planted_s)
            taken[ask] = time.perf_counter() - started
        if len(statuses) != 1 or 429 in statuses:
            raise ValueError(f"expected one status for what is known and what is not, got {sorted(statuses)}")
        found.append((taken[known], taken[unknown]))
    return found[1:]  # the first pair opens the connection and fills caches


def measure(site: Site, pairs: int) -> Iterator[tuple[Row, Difference]]:
    """Yield the result of each route, and that of one with a planted delay."""
    for route, known, unknown in _routes(site):
        yield _row(route, difference_of(interleaved(known, unknown, pairs)))
    route, known, unknown = next(_routes(site))
    planted = difference_of(interleaved(known, unknown, pairs, PLANTED_S))
    yield (
        Row(f"response times: {route}, with a delay of 3 ms", "detected", _text(planted), planted.is_detected),
        planted,
    )
    with _stopped_worker(site):
        submitted = difference_of(_submitted_pairs(site, pairs))
    yield _row("POST /api/v1/submissions/ (bytes)", submitted)


def _row(route: str, difference: Difference) -> tuple[Row, Difference]:
    return Row(f"response times: {route}", TARGET, _text(difference), difference.is_within), difference


def _text(difference: Difference) -> str:
    return f"{difference.low:+.2f} to {difference.high:+.2f} ms of {difference.median:.1f} ms"


def _routes(site: Site) -> Iterator[tuple[str, Ask, Ask]]:
    """Yield each route with a request for what the other organisation has, and one for what does not exist."""
    vera = site.browser_of("vera")
    draft = vera.upload(people.numbered_log(uuid4().hex, 0))
    wait_until_read(vera, draft)
    model = f"secret{uuid4().hex[:8]}"
    submission = vera.send(f"/submit/{draft}/", FACTS | {"model": model}).headers["Location"].split("/")[2]
    wait_for(lambda: site.script_of("vera").get(f"/api/v1/submissions/{submission}/").json()["runs"])
    run = site.call(people.embargo, submission)
    unsent = vera.announce(10)
    ids = {"submission": submission, "run": run, "model": model, "draft": unsent.headers["Drivecert-Draft"]}
    ids["upload"] = unsent.headers["Location"].split("/")[2]
    # Of the same letters, since an id of others may be refused before it is looked up.
    unknown = {name: f"{value[:2]}{value[:1:-1]}" for name, value in ids.items()}
    unknown["model"] = f"secret{uuid4().hex[:8]}"
    browser, scripts = site.browser_of("otto"), [site.script_of("otto", number) for number in range(20)]
    for path in (
        "/runs/{run}/", "/runs/{run}/log", "/runs/{run}/slices.csv", "/id/{run}", "/submissions/{submission}/",
        "/submit/{draft}/", "/search/?q={model}", "/compare/?runs={run}",
    ):  # fmt: skip
        yield f"GET {path}", _page(browser, path, ids), _page(browser, path, unknown)
    for path in ("/api/v1/submissions/{submission}/", "/api/v1/runs/{run}/", "/api/v1/runs/{run}/intervals/"):
        yield f"GET {path}", _by_scripts(scripts, "GET", path, ids), _by_scripts(scripts, "GET", path, unknown)
    path = "/uploads/{upload}/"
    yield f"HEAD {path}", _by_scripts(scripts, "HEAD", path, ids), _by_scripts(scripts, "HEAD", path, unknown)


def _page(browser: Client, path: str, ids: dict[str, str]) -> Ask:
    address = path.format(**ids)
    return lambda _: browser.get(address).status_code


def _by_scripts(scripts: list[Client], method: str, path: str, ids: dict[str, str]) -> Ask:
    """Return a request that uses the tokens in turn, because each has a limit."""
    address = path.format(**ids)
    return lambda number: scripts[number % len(scripts)].ask(method, address, headers=TUS).status_code


def _submitted_pairs(site: Site, pairs: int) -> list[tuple[float, float]]:
    """Return the times of new logs, which the other organisation has or no one. Each log is sent once."""
    known, unknown = uuid4().hex, uuid4().hex
    site.call(people.store_logs, known, pairs + 1)
    scripts = [site.script_of("otto", number) for number in range(20)]

    def submit(series: str) -> Ask:
        def ask(number: int) -> int:
            files = {"log": ("load.log", people.numbered_log(series, number))}
            script = scripts[number % len(scripts)]
            return script.ask("POST", "/api/v1/submissions/", files=files, data={"slice_length_s": "10"}).status_code

        return ask

    return interleaved(submit(known), submit(unknown), pairs)


@contextmanager
def _stopped_worker(site: Site) -> Iterator[None]:
    """Stop the reading worker, which would read the logs meanwhile."""
    worker = site.register.pid_of("worker")
    kill(worker, SIGSTOP)
    try:
        yield
    finally:
        kill(worker, SIGCONT)
