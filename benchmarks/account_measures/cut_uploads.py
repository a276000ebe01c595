"""Uploads over a connection that is cut: by the page in a browser, by tuspy, and by tus-js-client."""

import hashlib
import http.client
import re
from contextlib import suppress
from pathlib import Path

from playwright.sync_api import Page
from tusclient import client as tus
from tusclient.exceptions import TusCommunicationError

from account_measures.site import Row, Site
from tests.cutting_proxy import CuttingProxy
from tests.results.builders import log_bytes

TUS_JS_CLIENT = Path(__file__).parents[2] / "tests/vendor/tus-js-client/tus.min.js"
TARGET = "arrives complete, exactly once"
PATIENCE_MS = 600_000
# As its documentation shows it: one request for the whole file, repeated from the offset of the server. It repeats
# nothing while the browser is offline, as Chromium reports of a network that has only a loopback interface.
TUS_JS_UPLOAD = """() => new Promise((done, failed) => {
  Object.defineProperty(navigator, 'onLine', {value: true});
  const {log, csrfmiddlewaretoken} = document.querySelector('form[data-uploads]').elements, file = log.files[0];
  new tus.Upload(file, {
    endpoint: '/uploads/', retryDelays: [0, 100, 100, 100, 100, 100], metadata: {filename: file.name},
    headers: {'X-CSRFToken': csrfmiddlewaretoken.value}, onError: failed, onSuccess: () => done(),
  }).start();
})"""


def write_log(path: Path, size_bytes: int) -> Path:
    """Write a short log, and lines that are none of a log."""
    path.write_bytes(log_bytes("four-us"))
    line = b"a line that is none of a log\n" * 32_768
    with path.open("ab") as file:
        while file.tell() < size_bytes:
            file.write(line[: size_bytes - file.tell()])
    return path


def measure(site: Site, page: Page, log: Path, cut_bytes: int) -> list[Row]:
    """Send the log with each client. The browser page is signed in as vera."""
    rows = []
    for name, send in {"browser": _by_form, "tus-js-client": _by_tus_js_client, "tuspy": _by_tuspy}.items():
        with CuttingProxy(site.register.port, cut_bytes) as proxy:
            drafts = _drafts(site)
            send(site, page, log, proxy)
            rows.append(_row(site, log, name, proxy.cuts_count, _drafts(site) - drafts))
    return rows


def _row(site: Site, log: Path, name: str, cuts: int, drafts: set[str]) -> Row:
    stored = _stored(site, log)
    is_complete = [_sha256(path) for path in stored] == [_sha256(log)]
    browser = site.browser_of("vera")
    for draft in drafts:
        browser.send(f"/submit/{draft}/delete/")
    is_met = is_complete and len(drafts) == 1 and cuts > 0 and not _stored(site, log)
    size = log.stat().st_size / 1e6
    text = f"{cuts} cuts, {len(stored)} file {'complete' if is_complete else 'damaged'}, {len(drafts)} draft"
    return Row(f"{size:.0f} MB over a connection that is cut, {name}", TARGET, text, is_met)


def _stored(site: Site, log: Path) -> list[Path]:
    """Return the files of drafts that are as large as the log."""
    files = (Path(site.register.data_dir) / "evidence/staging/files").glob("*/bytes")
    return [path for path in files if path.stat().st_size == log.stat().st_size]


def _drafts(site: Site) -> set[str]:
    """Return the drafts that the form lists."""
    text = site.browser_of("vera").get("/submit/").text
    return set(re.findall(r'href="/submit/([\w-]+)/"', text))


def _by_form(site: Site, page: Page, log: Path, proxy: CuttingProxy) -> None:
    page.goto(f"http://127.0.0.1:{proxy.port}/submit/")
    page.locator("[name=log]").set_input_files(log)
    page.get_by_role("button", name="Upload and read the log").click()
    page.wait_for_url("**/submit/*/", timeout=PATIENCE_MS)


def _by_tus_js_client(site: Site, page: Page, log: Path, proxy: CuttingProxy) -> None:
    page.goto(f"http://127.0.0.1:{proxy.port}/submit/")
    page.locator("[name=log]").set_input_files(log)
    page.evaluate(TUS_JS_CLIENT.read_text())
    page.evaluate(TUS_JS_UPLOAD)


def _by_tuspy(site: Site, page: Page, log: Path, proxy: CuttingProxy) -> None:
    headers = {"Authorization": f"Bearer {site.people['vera'].tokens[0]}"}
    client = tus.TusClient(f"http://127.0.0.1:{proxy.port}/uploads/", headers=headers)
    with log.open("rb") as file:
        uploader = client.uploader(file_stream=file, metadata={"filename": log.name})
        uploader.set_url(uploader.create_url())
        while uploader.offset < log.stat().st_size:
            with suppress(TusCommunicationError, OSError, http.client.HTTPException):
                uploader.offset = uploader.get_offset()
                uploader.upload()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
