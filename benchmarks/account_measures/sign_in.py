"""Wrong passwords, stolen sessions and tokens of former members."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_urlsafe

from playwright.sync_api import Page

from account_measures.site import Client, Row, Site, wait_for
from tests.register import ROOT, free_port

WRONG = 20
NO_REDIS = "redis+socket:///nowhere/redis.sock"
# A machine answers at each address of its loopback network, so that each measure has an address of its own.
ONE_ADDRESS, FORGING, KNOWN, WITHOUT_REDIS, OTHER = (f"127.0.0.{number}" for number in range(11, 16))
TARGET = "429 with Retry-After at the 11th at the latest"
AUTHENTICATOR = {
    "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
    "isUserVerified": True, "automaticPresenceSimulation": True,
}  # fmt: skip


def measure(site: Site, page: Page) -> list[Row]:
    """Try wrong passwords of paula, who has a passkey in the browser page, and of kim, whose browser is known."""
    _add_passkey(site, page)
    known = site.browser_of("kim", KNOWN)
    known.send("/accounts/logout/")
    return [
        _wrong_passwords(site.url, "paula", "from one address", ONE_ADDRESS),
        _wrong_passwords(site.url, "kim", f"from {WRONG} forged addresses", FORGING, is_forged=True),
        _of_owner(site, known, page),
        _without_redis(site),
        _stolen_session(site),
        _former_member(site),
    ]


def _wrong_passwords(url: str, name: str, how: str, address: str, *, is_forged: bool = False) -> Row:
    answers = []
    for number in range(WRONG):
        headers = {"X-Forwarded-For": f"203.0.113.{number}"} if is_forged else {}
        answers.append(Client(url, address=address).sign_in(name, f"wrong {number}", headers))
    statuses = [answer.status_code for answer in answers]
    first = statuses.index(429) + 1 if 429 in statuses else 0
    refused = [answer for answer in answers if answer.status_code == 429]
    is_met = 1 <= first <= 11 and len(refused) == WRONG - first + 1 and all("Retry-After" in a.headers for a in refused)
    waits = f", Retry-After {refused[0].headers.get('Retry-After')} s" if refused else ""
    return Row(f"{WRONG} wrong passwords {how}", TARGET, f"429 from the {first}th on{waits}", is_met)


def _of_owner(site: Site, known: Client, page: Page) -> Row:
    """Sign in while the accounts are limited: from elsewhere, from the known browser, and with the passkey."""
    password = site.people["kim"].password
    stranger = Client(site.url, address=OTHER).sign_in("kim", password).status_code
    known.sign_in("kim", password)
    at_home = known.get("/submissions/").status_code
    page.goto(f"http://localhost:{site.register.port}/accounts/login/?next=/submit/")
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url("**/submit/")
    is_met = stranger == 429 and at_home == 200
    text = f"new browser: {stranger}; known browser: {at_home}; passkey: signed in"
    target = "the real user signs in from a known browser or with a passkey"
    return Row("meanwhile", target, text, is_met)


def _add_passkey(site: Site, page: Page) -> None:
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    session.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    page.goto(f"http://localhost:{site.register.port}/accounts/login/?next=/accounts/2fa/webauthn/add/")
    page.get_by_label("Username").fill("paula")
    page.get_by_label("Password").fill(site.people["paula"].password)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Add passkey").click()
    page.wait_for_url("**/recovery-codes/")
    page.get_by_role("button", name="Sign out").click()


def _without_redis(site: Site) -> Row:
    """Try wrong passwords at a web process of the same register that cannot reach Redis."""
    with _web_process(site) as url:
        row = _wrong_passwords(url, "paula", "with Redis down", WITHOUT_REDIS)
        right = Client(url, address=OTHER).sign_in("tess", site.people["tess"].password).status_code
    text = f"{row.found}, one process; another user signs in: {right}"
    return Row(row.measure, "sign-in works with a limit per process", text, row.is_met and right == 302)


@contextmanager
def _web_process(site: Site) -> Iterator[str]:
    port = free_port()
    addresses = json.loads((Path(site.register.data_dir) / "run/addresses.json").read_text())
    environment = site.register.environment() | addresses | {"REDIS_URL": NO_REDIS}
    command = [sys.executable, "-m", "granian", "--interface=wsgi", "--host=127.0.0.1", f"--port={port}"]
    process = subprocess.Popen(
        [*command, "--workers=1", "--blocking-threads=8", "webapp.wsgi:application"],
        cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    client = Client(f"http://127.0.0.1:{port}")
    try:
        wait_for(lambda: _answers(client))
        yield client.url
    finally:
        process.terminate()
        process.wait(60)


def _answers(client: Client) -> bool:
    try:
        return client.get("/healthz").status_code == 200
    except OSError:
        return False


def _stolen_session(site: Site) -> Row:
    own = site.browser_of("tess", OTHER)
    stolen = Client(site.url)
    stolen.session.cookies.update(site.browser_of("tess", OTHER).session.cookies)
    before = stolen.get("/submissions/").status_code
    person = site.people["tess"]
    new = token_urlsafe(12)
    form = {"oldpassword": person.password, "password1": new, "password2": new}
    own.send("/accounts/password/change/", form)
    person.password = new
    site.secrets.append(new)
    after = [browser.get("/submissions/").status_code for browser in (stolen, own)]
    text = f"stolen session: {before} before, {after[0]} (to the sign-in) after; own session: {after[1]}"
    return Row(
        "a stolen session after a password change", "the session is ended", text, [before, *after] == [200, 302, 200]
    )


def _former_member(site: Site) -> Row:
    script = site.script_of("milo")
    before = script.get("/api/v1/submissions/").status_code
    site.browser_of("milo", OTHER).send("/accounts/organisations/exemplar/leave/")
    after = script.get("/api/v1/submissions/").status_code
    upload = script.announce(10).status_code
    text = f"{before} before; after: {after}, and {upload} for an upload"
    target = "the token no longer works"
    return Row(
        "a token after its creator left the organisation", target, text, [before, after, upload] == [200, 401, 401]
    )
