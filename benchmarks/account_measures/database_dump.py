"""A dump of the database, searched for each secret that clients used."""

import json
import re
import subprocess
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time

from account_measures.one_submission import FACTS
from account_measures.site import Client, Row, Site, first_match, wait_until_read
from tests.results.builders import log_bytes
from webapp.embedded import find_postgres

ACTIVATE = "/accounts/2fa/totp/activate/"
CODES = re.compile(r"^(?:<pre[^>]*>)?(\d{8})$", re.MULTILINE)


def measure(site: Site) -> list[Row]:
    """Add a second factor, recovery codes and a secret link, and search the dump for all secrets of the site."""
    browser = site.browser_of("dora")
    link, app, codes = _link_key(browser), _authenticator_app(browser), _recovery_codes(browser)
    secrets = {*site.secrets, browser.cookie("sessionid"), link, app, *codes}
    dump = _dump(site)
    found = [secret for secret in secrets if secret in dump]
    has_rows = "vera@example.org" in dump
    text = f"{len(dump) / 1e6:.1f} MB, {len(secrets)} secrets, {len(found)} of them found"
    target = "no usable password, token, session, link key, TOTP secret or recovery code"
    return [Row("a dump of the database", target, text, has_rows and len(codes) >= 8 and not found)]


def _link_key(browser: Client) -> str:
    draft = browser.upload(log_bytes("slow-disk-ms") + b"linked\n")
    wait_until_read(browser, draft)
    address = browser.send(f"/submit/{draft}/", FACTS).headers["Location"]
    return first_match(r"\?key=([\w-]+)", browser.send(f"{address}link/").text)


def _authenticator_app(browser: Client) -> str:
    secret = first_match(r'class="mono">((?:\w{4} ?){8})<', browser.get(ACTIVATE).text).replace(" ", "")
    code = next(format_hotp_value(hotp_value(secret, counter)) for counter in yield_hotp_counters_from_time())
    answer = browser.send(ACTIVATE, {"code": code})
    if answer.status_code != 302:
        raise RuntimeError(f"expected the code to be accepted, got status {answer.status_code}")
    return secret


def _recovery_codes(browser: Client) -> list[str]:
    return CODES.findall(browser.get("/accounts/2fa/recovery-codes/").text)


def _dump(site: Site) -> str:
    url = json.loads((Path(site.register.data_dir) / "run/addresses.json").read_text())["DATABASE_URL"]
    address = urlsplit(url)
    options = [f"--host={parse_qs(address.query)['host'][0]}", f"--username={address.username}", "--data-only"]
    done = subprocess.run(
        [find_postgres() / "pg_dump", *options, address.path.lstrip("/")],
        capture_output=True, text=True, check=True, env={"PGPASSWORD": address.password or "", "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    return done.stdout
