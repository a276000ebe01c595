"""Hostile uploads: each is refused or read, none is rendered or executed, and the web processes stay small."""

import bz2
import gzip
import http.client
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import zstandard
from playwright.sync_api import Dialog, Page

from account_measures.site import Client, Row, Site, wait_until_read
from tests.results.builders import log_bytes

ALLOWED_BYTES = 100_000_000
CLEAR_PEAK = "5"  # of /proc/PID/clear_refs: the peak of the resident memory begins again
SCRIPT = "<script>alert(1)</script>"
ESCAPED = Path("/tmp/drivecert-escaped.log")  # noqa: S108 - must not be written
LOG = log_bytes("slow-disk-ms")
PIECE = b"x" * 1_000_000


def files_of(bomb_bytes: int) -> dict[str, Callable[[], bytes]]:
    """Return the hostile files by their kind. A bomb unpacks to so many bytes."""
    bombs: dict[str, Callable[[bytes], bytes]] = {
        "gzip bomb": lambda text: gzip.compress(text, 1),
        "zstd bomb": zstandard.compress,
        "xz bomb": lambda text: lzma.compress(text, preset=0),
        "bzip2 bomb": bz2.compress,
        "zip bomb": lambda text: zip_of("load.log", text),
    }
    files: dict[str, Callable[[], bytes]] = {
        "truncated gzip": lambda: gzip.compress(LOG)[:-100],
        "truncated log": lambda: LOG[: len(LOG) // 2],
        "NUL bytes": lambda: LOG.replace(b"\n", b"\0\n", 50),
        "UTF-16": lambda: LOG.decode().encode("utf-16"),
        "a million columns": lambda: LOG + b"x," * 1_000_000 + b"\n",
        "path in zip": lambda: zip_of(f"../../../..{ESCAPED}", LOG),
        "path in tar": lambda: tar_of(str(ESCAPED), LOG),
        "markup in a name": lambda: tar_of(f"{SCRIPT}.log", LOG),
        "polyglot": lambda: f"<html>{SCRIPT}</html>".encode() + zip_of("load.log", LOG),
        "markup": f"<html>{SCRIPT}</html>".encode,
    }
    return {kind: _bomb(pack, bomb_bytes) for kind, pack in bombs.items()} | files


def _bomb(pack: Callable[[bytes], bytes], size_bytes: int) -> Callable[[], bytes]:
    return lambda: pack(b"\n" * size_bytes)


def zip_of(name: str, content: bytes) -> bytes:
    """Return a zip archive with one member."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr(name, content)
    return file.getvalue()


def tar_of(name: str, content: bytes) -> bytes:
    """Return a tar archive with one member."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return file.getvalue()


def measure(site: Site, page: Page, bomb_bytes: int, flood_bytes: int) -> list[Row]:
    """Upload each hostile file, read it, and show its page; then send more bytes than a file may have.

    The browser page is signed in as vera. A script of a file that ran there would open a dialog.
    """
    dialogs: list[str] = []

    def close(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", close)
    browser = site.browser_of("vera")
    browser.get("/submit/")
    idle = {pid: _memory(pid, "VmRSS") for pid in site.web_processes()}
    rows = []
    for kind, make in files_of(bomb_bytes).items():
        content = make()
        _clear_peaks(idle)
        text = _shown(site, browser, page, content)
        is_harmless = SCRIPT not in text and not dialogs and not ESCAPED.exists()
        rows.append(_row(kind, "read or explained" if is_harmless else "rendered", idle, is_harmless=is_harmless))
        del content
    _clear_peaks(idle)
    statuses = _flood(site, browser, flood_bytes)
    is_refused = all(status in {0, 400, 413} for status in statuses.values())
    text = ", ".join(f"{route}: {status or 'connection closed'}" for route, status in statuses.items())
    rows.append(_row(f"{flood_bytes / 1e9:g} GB", text, idle, is_harmless=is_refused))
    return rows


def _row(kind: str, text: str, idle: dict[int, int], *, is_harmless: bool) -> Row:
    growth = max(_memory(pid, "VmHWM") - before for pid, before in idle.items())
    target = "refused or read, web process at most 100 MB above idle"
    is_met = is_harmless and growth <= ALLOWED_BYTES
    return Row(f"hostile upload: {kind}", target, f"{text}; {growth / 1e6:.0f} MB above idle", is_met)


def _shown(site: Site, browser: Client, page: Page, content: bytes) -> str:
    """Upload a file, and return the page that shows what was read."""
    draft = browser.upload(content, f"{SCRIPT}.log")
    text = wait_until_read(browser, draft)
    page.goto(f"{site.url}/submit/{draft}/")
    browser.send(f"/submit/{draft}/delete/")
    return text


def _flood(site: Site, browser: Client, size_bytes: int) -> dict[str, int]:
    """Return the status of each way to send too many bytes; 0 if the server closed the connection before."""
    address = browser.announce(1).headers["Location"]
    return {
        "POST /uploads/": browser.announce(size_bytes).status_code,
        "PATCH /uploads/<key>/": _send(site, browser, "PATCH", address, size_bytes),
        "POST /submit/": _send(site, browser, "POST", "/submit/", size_bytes),
    }


def _send(site: Site, browser: Client, method: str, path: str, size_bytes: int) -> int:
    """Send so many bytes in one request, and return the status."""
    head = b'--x\r\nContent-Disposition: form-data; name="log"; filename="a.log"\r\n\r\n' if method == "POST" else b""
    length = len(head) + size_bytes // len(PIECE) * len(PIECE)
    kind = "multipart/form-data; boundary=x" if method == "POST" else "application/offset+octet-stream"
    cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in browser.session.cookies)
    headers = {"Cookie": cookies, "X-CSRFToken": browser.cookie("csrftoken"), "Content-Type": kind}
    headers |= {"Tus-Resumable": "1.0.0", "Upload-Offset": "0", "Content-Length": str(length)}
    connection = http.client.HTTPConnection("127.0.0.1", site.register.port, timeout=600)
    with suppress(OSError):
        connection.request(method, path, headers=headers)
        connection.send(head)
        for _ in range(size_bytes // len(PIECE)):
            connection.send(PIECE)
    try:
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def _clear_peaks(processes: dict[int, int]) -> None:
    for pid in processes:
        Path(f"/proc/{pid}/clear_refs").write_text(CLEAR_PEAK)


def _memory(pid: int, name: str) -> int:
    """Return a line of /proc/PID/status in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))
