"""Command that records every public page, file and API response of a running register.

python tests/regression/crawl.py BASE_URL OUTPUT.jsonl [--token TOKEN] [--since DATE]
"""

import argparse
import json
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.regression.addresses import ROOTS, Bounds, pattern_of, siblings  # noqa: E402 - runs without installation
from tests.regression.bodies import record_body  # noqa: E402
from tests.regression.normalization import Normalizer, stable_key  # noqa: E402

THREADS = 3
PRODUCT_ID = re.compile(r"/id/(p-\w{8})\b")
TRIES = 40
DEPTH_MAX = 12
# Of the clock, of caches and of sessions.
LEFT_OUT_HEADERS = frozenset(
    [
        "date",
        "etag",
        "last-modified",
        "content-length",
        "set-cookie",
        "retry-after",
        "connection",
        "x-drivecert-snapshot",
        "server",
    ]
)


@dataclass(frozen=True)
class Response:
    """A response without redirects."""

    status: int
    headers: dict[str, str]
    body: bytes


class Register:
    """The register under test; redirects are recorded, not followed."""

    def __init__(self, url: str, token: str) -> None:
        self.url, self.token = url.rstrip("/"), token
        self.logged: set[str] = set()  # runs that were read from a log, not taken from a published table
        self._opener = urllib.request.build_opener(NoRedirect())

    def get(self, path: str, *, is_sender: bool = False) -> Response:
        """Return the response to a path; wait where the register limits the rate."""
        headers = {"Authorization": f"Bearer {self.token}"} if is_sender else {}
        for _ in range(TRIES):
            request = urllib.request.Request(f"{self.url}{path}", headers=headers)  # noqa: S310 - own address
            try:
                with self._opener.open(request, timeout=120) as response:
                    return Response(response.status, lower(response.headers.items()), response.read())
            except urllib.error.HTTPError as error:
                with error:
                    if error.code != 429:
                        return Response(error.code, lower(error.headers.items()), error.read())
                time.sleep(int(error.headers.get("Retry-After", "3")))
        raise RuntimeError(f"{path}: the register limits the rate")

    def rows(self, path: str, *, is_sender: bool = False) -> list[Any]:
        """Return the rows of all pages of an API list."""
        found: list[Any] = []
        while path:
            page = json.loads(self.get(path, is_sender=is_sender).body)
            found += page["results"]
            path = (page["next"] or "").removeprefix(self.url)
        return found


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Redirects are responses of their own."""

    def redirect_request(self, *_arguments: Any) -> None:
        """Follow no redirect."""


def lower(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return headers with names in lower case."""
    return {name.lower(): value for name, value in headers}


def main() -> None:
    """Crawl and write one JSON line for each address, sorted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base_url")
    parser.add_argument("output", type=Path)
    parser.add_argument("--token", default="", help="of an organisation: its submissions are recorded too")
    parser.add_argument(
        "--since", default="", help="dates from this day on are of the register's clock [default: 9 days ago]"
    )
    arguments = parser.parse_args()
    since = date.fromisoformat(arguments.since) if arguments.since else datetime.now(UTC).date() - timedelta(days=9)
    register = Register(arguments.base_url, arguments.token)
    normalizer = Normalizer(register.url, since)
    name_rows(register, normalizer)
    records = crawl(register, normalizer)
    records |= api_lists(register, normalizer)
    with arguments.output.open("w") as output:
        for address in sorted(records):
            output.write(json.dumps({"address": address} | records[address], sort_keys=True, ensure_ascii=False) + "\n")


def name_rows(register: Register, normalizer: Normalizer) -> None:
    """Name every random id after the content of its row, so that two registers use the same name for the same row."""
    lists = [("runs", False), ("certificates", False)] + ([("submissions", True)] if register.token else [])
    for kind, is_sender in lists:
        for row in reversed(register.rows(f"/api/v1/{kind}/", is_sender=is_sender)):
            normalizer.name_id(row["id"], stable_key(row))
            if row.get("tier") not in {None, "published"}:
                register.logged.add(row["id"])
            for run in row.get("runs", []):
                normalizer.name_id(run["id"], stable_key(run))
    for row in register.rows("/api/v1/products/"):
        if found := PRODUCT_ID.search(register.get(f"/drive/{row['id']}/").body.decode()):
            normalizer.name_id(found[1], row["id"])


def api_lists(register: Register, normalizer: Normalizer) -> dict[str, Any]:
    """Return one record for each list of the API, with the rows of all pages by their names."""
    records = {}
    lists = [("runs", False), ("products", False), ("certificates", False)]
    for kind, is_sender in lists + ([("submissions", True)] if register.token else []):
        rows = [normalizer.value(row) for row in register.rows(f"/api/v1/{kind}/", is_sender=is_sender)]
        records[f"list /api/v1/{kind}/"] = {"rows": {row["id"]: row for row in rows}}
    if register.token:
        for row in register.rows("/api/v1/submissions/", is_sender=True):
            path = f"/api/v1/submissions/{row['id']}/"
            records[f"sender {normalizer.text(path)}"] = record(register.get(path, is_sender=True), path, normalizer)[0]
    return records


def crawl(register: Register, normalizer: Normalizer) -> dict[str, Any]:
    """Follow every internal link, one level after the other; each level in the order of its normalized addresses."""
    records: dict[str, Any] = {}
    bounds = Bounds()
    level = {normalizer.text(path): path for path in ROOTS}
    with ThreadPoolExecutor(THREADS) as pool:
        for _ in range(DEPTH_MAX):
            chosen = [name for name in sorted(level) if name not in records and bounds.admit(name)]
            paths = [level[name] for name in chosen]
            found: set[str] = set()
            for name, path, response in zip(chosen, paths, pool.map(register.get, paths), strict=True):
                records[name], links = record(response, path, normalizer)
                found.update([*links, *siblings(links, register.logged)])
            level = {normalizer.text(path): path for path in sorted(found)}
            if not level:
                break
    counts = Counter(pattern_of(name) for name in bounds.refused)
    records["bounded patterns"] = {"_left_out": dict(sorted(counts.items()))}
    return records


def record(response: Response, path: str, normalizer: Normalizer) -> tuple[dict[str, Any], list[str]]:
    """Return what is recorded of a response, and the internal paths that it leads to."""
    headers = {name: value for name, value in response.headers.items() if name not in LEFT_OUT_HEADERS}
    links = [headers["location"]] if "location" in headers else []
    content, found = record_body(path, headers.get("content-type", ""), response.body, normalizer)
    inner = [internal_path(link, path, normalizer.url) for link in links + found]
    paths = [each for each in inner if each]
    kept = {name: normalizer.text(value) for name, value in headers.items()}
    return {"status": response.status, "headers": kept, **content}, paths


def internal_path(link: str, path: str, url: str) -> str:
    """Return the path with query of a link within the public register; nothing for another link."""
    parts = urllib.parse.urlsplit(urllib.parse.urljoin(f"{url}{path}", link))
    if f"{parts.scheme}://{parts.netloc}" != url or re.match(r"/(static|lab|accounts|review)/", parts.path):
        return ""
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


if __name__ == "__main__":
    main()
