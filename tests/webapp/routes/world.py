"""A small register for the table of roles and routes: one client of each kind, and one object for each parameter."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.db import transaction
from django.http import HttpResponse
from django.test import Client

from results.ingest.queue import sweep
from results.models import Product, Run, Submission, Visibility
from tests.results.builders import link_key, log_bytes, make_organisation, make_user, send
from tests.webapp.routes.table import PEOPLE, Row
from webapp.access_limits import process_limits
from webapp.access_limits.shared_limits import forget_all
from webapp.accounts.models import APIToken, issue_token

PASSWORD = "correct horse battery"
PRODUCT = "exemplar-ex4"
PASSKEY_SIGN_IN = "/accounts/2fa/webauthn/login/"
FORM = "application/x-www-form-urlencoded"
USERS = ("other", "viewer", "submitter", "owner", "reviewer", "operator")
READERS = {"link", "viewer", "submitter", "owner", "reviewer", "token"}  # of what is not public
NOT_FOUND, FORBIDDEN = 404, 403
# Where the object of a route does not exist here, 404 shows that the client passed the check. The lab refuses with 403.
MISSING = {
    "name": "lab-1", "device_id": 4711, "sha256": "0" * 64, "number": 1, "day": "2026-01-01", "code": "2026-01",
    "publication": "none", "key": "none", "digest": "0" * 16, "uidb36": "1", "form": "csv", "first": 1, "last": 2,
    "category": "nvme-flash", "vendor": "exemplar", "act": "publish", "decision": "decline", "slug": "none",
}  # fmt: skip


@dataclass
class World:
    """Users of each role, their clients, a submission that is not public, and a public run."""

    submission: Submission
    run: Run
    public_run: Run
    cookies: dict[str, dict[str, str]] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    own: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def hidden(self) -> list[str]:
        """Return the ids that only READERS may learn."""
        return [self.submission.public_id, self.run.public_id]

    @property
    def foreign(self) -> list[str]:
        """Return what no client may learn, because it belongs to a user who is none of them."""
        return ["token-of-stranger", "browser-of-stranger"]

    def parameters(self, row: Row, person: str) -> tuple[dict[str, Any], bool]:
        """Return values for the parameters of a route, and whether the object exists."""
        if any(f"<{name}>" in row.route for name in self.own["stranger"]):
            return self.own[person], True
        if row.route.startswith("/lab/"):
            return MISSING | {"public_id": "d-missing2"}, False
        if row.route.startswith(("/submissions/", "/api/v1/submissions/")):
            return MISSING | {"public_id": self.submission.public_id}, True
        if row.route.startswith(("/runs/", "/review/runs/", "/api/v1/runs/")):
            return MISSING | {"public_id": self.run.public_id}, True
        if row.route.startswith("/accounts/organisations/"):
            return MISSING | {"slug": "exemplar"}, True
        return MISSING | {"slug": PRODUCT, "public_id": self.public_run.public_id}, False

    def address(self, row: Row, person: str, values: dict[str, Any]) -> str:
        """Return an address of the route, with the key of the secret link for its holder."""
        path = re.sub(r"<(\w+)>", lambda found: str(values[found[1]]), row.route)
        return f"{path}?key={self.secrets['link']}" if person == "link" else path

    def ask(self, row: Row, person: str, address: str) -> Any:
        """Return the response of the site; what the request changes is undone."""
        forget_all()
        process_limits.forget_all()
        client = Client(raise_request_exception=False)
        client.cookies.load(self.cookies.get(person, {}))
        headers = {"Authorization": f"Bearer {self.secrets[person]}"} if person.endswith("token") else {}
        if row.route == PASSKEY_SIGN_IN:  # asked by a script of the sign-in page
            headers["Accept"] = "application/json"
        with _undone():
            answer: Any = client.generic(row.method, address, headers=headers, content_type=FORM)
            if answer.streaming:
                b"".join(answer.streaming_content)  # closes the file
        return answer

    def is_allowed(self, row: Row, person: str, *, foreign: bool = False) -> bool:
        """Return whether the site lets the client do it. Raises AssertionError for an error, or if it leaks an id."""
        with self.passkeys() if "<pk>" in row.route else nullcontext():
            return self._is_allowed(row, person, "stranger" if foreign else person)

    @contextmanager
    def passkeys(self) -> Iterator[None]:
        """Give each user a passkey, under the number of their token. With one, other pages would need its content."""
        with _undone():
            for token in APIToken.objects.filter(name__startswith="token-of-"):
                data = {"name": "key", "credential": {}}
                Authenticator.objects.create(pk=token.pk, user=token.user, type=Authenticator.Type.WEBAUTHN, data=data)
            yield

    def _is_allowed(self, row: Row, person: str, owner: str) -> bool:
        values, exists = self.parameters(row, owner)
        answer = self.ask(row, person, self.address(row, person, values))
        assert answer.status_code < 500, f"{person}: {row.method} {row.route} answers {answer.status_code}"
        if "<" not in row.route and not answer.streaming:
            for secret in [*self.foreign, *([] if person in READERS else self.hidden)]:
                assert secret not in answer.text, f"{person}: {row.method} {row.route} reveals {secret}"
        if person == "nobody" and row.answers.get(person) == "no" and not row.route.startswith(("/runs/", "/api/")):
            assert is_refused(answer), f"{row.method} {row.route} does not lead to the sign-in"
        if exists and answer.status_code == NOT_FOUND:
            return not self._is_unknown(row, person, values, answer)
        if exists and answer.status_code == FORBIDDEN and person not in READERS:
            other = self._ask_for_unknown(row, person, values)[0]
            assert other.status_code == FORBIDDEN, f"{person}: {row.method} {row.route} reveals what exists"
        return not is_refused(answer)

    def _is_unknown(self, row: Row, person: str, values: dict[str, Any], answer: HttpResponse) -> bool:
        """Return whether the response is the same as for an object that does not exist."""
        other, invented = self._ask_for_unknown(row, person, values)
        texts = [_without(answer.text, values, invented), _without(other.text, invented, invented)]
        return other.status_code == NOT_FOUND and texts[0] == texts[1]

    def _ask_for_unknown(self, row: Row, person: str, values: dict[str, Any]) -> tuple[HttpResponse, dict[str, Any]]:
        named = [name for name in ("public_id", "slug") if name in values]
        invented: dict[str, Any] = {name: f"{str(values[name])[:2]}missing2" for name in named}
        invented |= dict.fromkeys(self.own["stranger"], 999_999)
        return self.ask(row, person, self.address(row, person, values | invented)), invented


def _without(text: str, values: dict[str, Any], names: Iterable[str]) -> str:
    for value in (str(values[name]) for name in names if name in values):
        text = text.replace(value, "x").replace(value.replace("-", " "), "x")  # as it is, and as words to search for
    return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", text)


def is_refused(answer: HttpResponse) -> bool:
    """Return whether a response is a refusal: the way to the sign-in, or status 401 or 403."""
    to_sign_in = answer.status_code == 302 and answer.headers["Location"].startswith("/accounts/login/?next=")
    return to_sign_in or answer.status_code in {401, 403}


@contextmanager
def _undone() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def make_world() -> World:
    """Create the register. It needs the fixtures evidence_dir and stand_in."""
    exemplar, foreign = make_organisation(), make_organisation("foreign")
    columns = {"password": PASSWORD}
    users = {person: make_user(person, **columns) for person in ("other", "viewer", "submitter", "owner")}
    users |= {role: make_user(role, **columns, **{f"is_{role}": True}) for role in ("reviewer", "operator")}
    stranger = make_user("stranger", foreign)
    users["other"].memberships.create(organisation=foreign, role="owner")
    for role in ("viewer", "submitter", "owner"):
        users[role].memberships.create(organisation=exemplar, role=role)
    submission, shown = (send(exemplar, log_bytes(case), users["owner"]) for case in ("four-us", "slow-disk-ms"))
    sweep()
    product = Product.objects.create(slug=PRODUCT, category="nvme-flash", vendor="Exemplar", model="EX4")
    Run.objects.filter(submission=shown).update(visibility=Visibility.PUBLIC, product=product)
    world = World(submission, submission.runs.get(), shown.runs.get())
    for person in users:
        client = Client()
        client.post("/accounts/login/", {"login": person, "password": PASSWORD})
        world.cookies[person] = {name: morsel.value for name, morsel in client.cookies.items()}
    for person in USERS:
        world.own[person] = _own_objects(users[person], exemplar)
    world.own |= {person: _own_objects(stranger, foreign) for person in (*set(PEOPLE) - set(USERS), "stranger")}
    world.secrets["link"] = link_key(submission)
    world.secrets["token"] = issue_token(users["submitter"], exemplar, "script")[1]
    world.secrets["other token"] = issue_token(users["other"], foreign, "script")[1]
    return world


def _own_objects(user: Any, organisation: Any) -> dict[str, int]:
    number = APIToken.objects.count()
    token = APIToken.objects.create(
        user=user, organisation=organisation, name=f"token-of-{user}", digest=f"{number:064}"
    )
    session = UserSession.objects.create(
        user=user, session_key=f"{number:040}", ip="192.0.2.1", user_agent=f"browser-of-{user}"
    )
    return {"token_id": token.pk, "session_id": session.pk, "pk": token.pk}
