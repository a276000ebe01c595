"""One submission of a log, however often it is sent: at the same moment, and again after a lost response."""

import threading
from typing import Any

import requests

from account_measures.site import Client, Row, Site, wait_for, wait_until_read
from tests.cutting_proxy import ResponseDroppingProxy
from tests.results.builders import log_bytes, sha256

FACTS = {"vendor": "Exemplar", "model": "EX4", "capacity_gb": "3200", "category": "nvme-flash"}
ADDRESS = "/submit/{}/"


def measure(site: Site, at_once: int, lost: int) -> list[Row]:
    """Submit a log `at_once` times in parallel, and another one whose response is lost `lost` times."""
    return [_parallel(site, at_once), _repeated(site, lost)]


def _parallel(site: Site, at_once: int) -> Row:
    # Half of the requests are the button of one draft, the others that of a draft with the same bytes.
    log = log_bytes("slow-disk-ms") + b"parallel\n"
    browser = site.browser_of("vera")
    drafts = [_read_draft(browser, log) for _ in range(2)]
    barrier, found = threading.Barrier(at_once), []
    clients = [_copy_of(browser, site.url) for _ in range(at_once)]

    def click(number: int) -> None:
        barrier.wait()
        found.append(_target(clients[number].send(ADDRESS.format(drafts[number % 2]), FACTS)))

    threads = [threading.Thread(target=click, args=(number,)) for number in range(at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    count = _submissions_of(site, browser, log)
    is_met = len(found) == at_once and len(set(found)) == 1 and "/submissions/" in found[0] and count == 1
    text = f"{len(found)} responses, {len(set(found))} address, {count} submission"
    return Row(f"{at_once} identical submissions in parallel", "one submission, no loss", text, is_met)


def _repeated(site: Site, lost: int) -> Row:
    log = log_bytes("slow-disk-ms") + b"repeated\n"
    browser, found = site.browser_of("vera"), set()
    draft = _read_draft(browser, log)
    with ResponseDroppingProxy(site.register.port) as proxy:
        for _ in range(lost):
            unlucky = _copy_of(browser, f"http://127.0.0.1:{proxy.port}")
            try:
                unlucky.send(ADDRESS.format(draft), FACTS)
            except requests.ConnectionError:
                found.add(_target(browser.send(ADDRESS.format(draft), FACTS)))  # the retry
        cuts = proxy.cuts_count
    count = _submissions_of(site, browser, log)
    is_met = cuts == lost and len(found) == 1 and count == 1
    text = f"{cuts} responses lost, {len(found)} address in the retries, {count} submission"
    return Row(f"{lost} submissions with lost responses and retries", "one submission, no loss", text, is_met)


def _read_draft(browser: Client, log: bytes) -> str:
    draft = browser.upload(log)
    wait_until_read(browser, draft)
    return draft


def _copy_of(browser: Client, url: str) -> Client:
    copy = Client(url)
    copy.session.cookies.update(browser.session.cookies)
    return copy


def _target(answer: requests.Response) -> str:
    return answer.headers.get("Location", f"status {answer.status_code}")


def _submissions_of(site: Site, browser: Client, log: bytes) -> int:
    """Return how many submissions a log has, once its run is there. Raises ValueError if the stored bytes differ."""
    script = site.script_of("vera")

    def found() -> list[Any]:
        results = script.get("/api/v1/submissions/").json()["results"]
        return [each for each in results if each["log"]["sha256"] == sha256(log) and each["runs"]]

    submissions = wait_for(found)
    stored = browser.get(f"/runs/{submissions[0]['runs'][0]['id']}/log").content
    if stored != log:
        raise ValueError(f"expected the log of {len(log)} bytes, got {len(stored)} other bytes")
    return len(submissions)
