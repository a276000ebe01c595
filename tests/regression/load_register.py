"""Command that fills a register with real logs, publishes them, and runs a command on it before it stops.

python tests/regression/load_register.py CHECKOUT DATA_DIR [--no-load] [--then COMMAND with {url} and {token} ...]
"""

import argparse
import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.regression.drivetest_outputs import attachments  # noqa: E402 - the command runs without an installed package
from tests.regression.pages import Page  # noqa: E402
from tests.regression.register_process import Browser, RegisterProcess  # noqa: E402

DATA = ROOT / "tests" / "data"
LOGS_PER_FOLDER = {"6.6": 12, "ycsb-0.18.0-SNAPSHOT": 9, "go-ycsb-v1.0.1": 9, "sweep": 8}
LOGS_PER_OTHER_FOLDER = 5
# Products of the published catalogue, so that uploaded runs are shown next to published ones.
CATALOGUE = (("Micron", "9300 Max", 3200), ("Intel", "P4610", 6400), ("Kioxia", "CM6-v", 3200))
READ_STATES = ("failed", "awaiting-identity", "in-review", "published", "declined", "embargoed", "withdrawn")


@dataclass(frozen=True)
class Upload:
    """A log with the files that belong to it and the stated product."""

    log: Path
    files: list[Path]
    vendor: str
    model: str
    capacity_gb: int
    fields: dict[str, str]


def main() -> None:
    """Start the register, load it, run the command and stop the register."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path, help="with .venv and a built drivetest")
    parser.add_argument("data_dir", type=Path, help="data directory; it is kept")
    parser.add_argument("--no-load", action="store_true", help="only start what the directory holds")
    parser.add_argument("--no-dump", action="store_true", help="with --no-load: make no new dump")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--then", nargs=argparse.REMAINDER, default=[], help="command to run before the stop")
    arguments = parser.parse_args()
    token_file = arguments.data_dir / "regression-token"
    with RegisterProcess(arguments.checkout, arguments.data_dir, arguments.port) as register:
        if not arguments.no_load:
            token_file.write_text(load(register))
            token_file.chmod(0o600)
        elif not arguments.no_dump:
            register.manage("dump")
        token = token_file.read_text() if token_file.exists() else ""
        command = [word.format(url=register.url, token=token) for word in arguments.then]
        status = subprocess.run(command, check=False).returncode if command else 0
    sys.exit(status)


def load(register: RegisterProcess) -> str:
    """Submit, publish and correct; return the token of the sender."""
    register.manage("add_organisation", "exemplar-storage", "Exemplar Storage")
    add_user = ["add_user", "bob", "--organisation", "exemplar-storage"]
    if "--email" in register.manage("add_user", "--help"):  # the older of two releases has no addresses
        add_user += ["--email", "bob@example.org"]
    password = register.manage(*add_user).split("password", 1)[1].split()[0]
    token = make_token(register, password)
    submissions = {}
    for upload in uploads():
        submissions[submit(register.url, token, upload)["id"]] = upload
    wait_until_read(register.url, token)
    reviewer = Browser(register.url)
    login, password = [
        line.split(": ")[1] for line in (register.data_dir / "first-login.txt").read_text().splitlines() if ": " in line
    ][:2]
    reviewer.sign_in(login, password)
    for number, (public_id, upload) in enumerate(submissions.items()):
        review(reviewer, public_id, upload, decline=number % 17 == 16, leave=number % 19 == 18)
    change_runs(register.url, token, reviewer)
    register.manage("dump")
    return token


def make_token(register: RegisterProcess, password: str) -> str:
    """Return a new token of the sender, from the page that shows it once."""
    sender = Browser(register.url)
    sender.sign_in("bob", password)
    page = sender.page("/accounts/tokens/")
    form = next(form for form in page.forms if "name" in dict(form.values))
    choices = form.choices.get("organisation") or [("", "")]
    after = sender.submit(
        form, "/accounts/tokens/", name=f"regression {uuid.uuid4().hex[:6]}", organisation=choices[0][0]
    )
    return max((word for text in after.text for word in text.split()), key=lambda word: (is_secret(word), len(word)))


def is_secret(word: str) -> bool:
    """Return whether a word of the page looks like a token: long, with letters and digits, and not an address."""
    return len(word) >= 20 and "/" not in word and any(c.isdigit() for c in word) and any(c.isalpha() for c in word)


def uploads() -> Iterator[Upload]:
    """Yield a bounded selection of every version: spread evenly over the sorted logs of each folder."""
    folders = sorted({log.parent for kind in ("act", "ycsb") for log in (DATA / kind).rglob("*.log")})
    for number, folder in enumerate(folders):
        logs = sorted(folder.glob("*.log"))
        most = LOGS_PER_FOLDER.get(folder.name, LOGS_PER_OTHER_FOLDER)
        step = max(1, len(logs) / most)
        chosen = [logs[int(index * step)] for index in range(min(most, len(logs)))]
        vendor, model, capacity_gb = ("Exemplar", folder.name, 960)
        if number % 4 == 3:
            vendor, model, capacity_gb = CATALOGUE[number // 4 % len(CATALOGUE)]
        for index, log in enumerate(chosen):
            fields = {
                "slice_length_s": str(5 + 5 * (index % 2)),
                "firmware": f"FW{index}",
                "notes": "baseline",
            }
            if index == 4:
                moment = datetime.now(UTC) + timedelta(days=300)
                fields["embargo_until"] = moment.strftime("%Y-%m-%dT%H:%MZ")
            yield Upload(log, attachments(log)[:32], vendor, model, capacity_gb, fields)


def submit(url: str, token: str, upload: Upload) -> Any:
    """Send one log through the API and return the submission; wait where the register limits the rate."""
    facts = {"vendor": upload.vendor, "model": upload.model, "capacity_gb": str(upload.capacity_gb)}
    fields = {**facts, "category": "nvme-flash", **upload.fields}
    body, content_type = multipart(fields, [("log", upload.log), *(("companions", path) for path in upload.files)])
    headers = {"Authorization": f"Bearer {token}", "Content-Type": content_type}
    while True:
        request = urllib.request.Request(f"{url}/api/v1/submissions/", body, headers)  # noqa: S310 - own address
        try:
            with urllib.request.urlopen(request, timeout=300) as response:  # noqa: S310
                return json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                if error.code != 429:
                    raise RuntimeError(f"{upload.log}: {error.code} {error.read().decode()}") from error
            time.sleep(int(error.headers.get("Retry-After", "5")))


def multipart(fields: dict[str, str], files: list[tuple[str, Path]]) -> tuple[bytes, str]:
    """Return the body and content type of a form with files."""
    boundary = "regression-baseline-7d1f"
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    for name, path in files:
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{path.name}"\r\n'
        parts.append(f"{head}Content-Type: application/octet-stream\r\n\r\n".encode() + path.read_bytes() + b"\r\n")
    return b"".join(parts) + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def own_submissions(url: str, token: str) -> list[Any]:
    """Return all submissions of the token's organisation, the oldest first."""
    found, address = [], f"{url}/api/v1/submissions/"
    while address:
        request = urllib.request.Request(address, headers={"Authorization": f"Bearer {token}"})  # noqa: S310
        with urllib.request.urlopen(request, timeout=300) as response:  # noqa: S310 - own address
            page = json.load(response)
        found += page["results"]
        address = page["next"]
    return found[::-1]


def wait_until_read(url: str, token: str) -> None:
    """Return when every submission was read, or could not be."""
    deadline = time.monotonic() + 900
    while waiting := [each["id"] for each in own_submissions(url, token) if each["state"] not in READ_STATES]:
        if time.monotonic() > deadline:
            raise RuntimeError(f"not read in 15 minutes: {waiting}")
        time.sleep(3)


def review(reviewer: Browser, public_id: str, upload: Upload, *, decline: bool, leave: bool) -> None:
    """Name the product and publish, with every warning ticked; decline or leave some."""
    path = f"/submissions/{public_id}/"
    page = reviewer.page(path)
    if leave:
        return
    if decline and (form := form_for(page, "decline")):
        reviewer.submit(form, path, reason="Declined for the regression baseline.")
        return
    if not form_for(page, "publish") and (form := form_for(page, "product")):
        page = name_product(reviewer, page, path, upload)
    if form := form_for(page, "publish"):
        reviewer.submit(form, path)


def name_product(reviewer: Browser, page: Page, path: str, upload: Upload) -> Page:
    """Choose the stated product, or enter it as a new one."""
    form = form_for(page, "product")
    label = f"{upload.vendor} {upload.model}"
    known = [value for value, text in (form.choices.get("product", []) if form else []) if text.startswith(label)]
    if form and known:
        return reviewer.submit(form, path, product=known[0])
    new = form_for(page, "new-product")
    if new is None:
        return page
    facts = {"vendor": upload.vendor, "model": upload.model, "capacity_gb": str(upload.capacity_gb)}
    return reviewer.submit(new, path, category="nvme-flash", **facts)


def form_for(page: Page, decision: str) -> Any:
    """Return the form that leads to a decision, by the end of its address."""
    return next((form for form in page.forms if form.action.endswith(f"/{decision}/")), None)


def change_runs(url: str, token: str, reviewer: Browser) -> None:
    """Withdraw, annotate, correct and supersede one public run each."""
    published = [each for each in own_submissions(url, token) if each["state"] == "published"]
    runs = [run["id"] for each in published for run in each["runs"] if run["visibility"] == "public"]
    changes = {
        "withdraw": {"reason": "Withdrawn for the regression baseline."},
        "annotate": {"text": "Annotated for the regression baseline."},
        "correct": {"firmware": "FW-corrected", "reason": "Corrected for the regression baseline."},
        "supersede": {"successor": runs[-1], "reason": "Superseded for the regression baseline."},
    }
    for (act, fields), run in zip(changes.items(), runs[2::5], strict=False):
        path = f"/review/runs/{run}/"
        successor = next((other for other in same_product(published, run) if other != run), runs[-1])
        if form := form_for(reviewer.page(path), act):
            reviewer.submit(form, path, **(fields | ({"successor": successor} if act == "supersede" else {})))


def same_product(published: list[Any], run_id: str) -> list[str]:
    """Return the ids of the public runs of a run's product."""
    runs = [run for each in published for run in each["runs"]]
    product = next(run["product"] for run in runs if run["id"] == run_id)
    return [run["id"] for run in runs if run["product"] == product and run["visibility"] == "public"]


if __name__ == "__main__":
    main()
