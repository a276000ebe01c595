"""A small register for the table of roles and routes: one client of each kind, and one object for each parameter."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from io import BytesIO
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from results.ingest.queue import sweep
from results.intake.uploads import add_file, create_draft
from results.lifecycle.objection_filing import Attachment, file_objection
from results.models import CertificateRequest, Organisation, Product, Run, Submission, Visibility
from runners.campaigns.commands import CampaignOrder, start
from runners.campaigns.terms import Terms
from runners.dispatch.orders import Order, order
from runners.inventory.maintenance_windows import plan_window
from runners.models import Host
from tests.results.builders import link_key, log_bytes, make_organisation, make_user, send
from tests.webapp.routes.table import PEOPLE, Row
from webapp.access_limits import process_limits
from webapp.access_limits.shared_limits import forget_all
from webapp.accounts.models import APIToken, Invitation, TrustedPublisher, hash_token
from webapp.accounts.tokens.rules import issue_token
from webapp.notices.models import Mail
from webapp.notices.preferences import preference_link
from webapp.webhooks.models import Webhook

PASSWORD = "correct horse battery"
PRODUCT = "exemplar-ex4"
PASSKEY_SIGN_IN = "/accounts/2fa/webauthn/login/"
FORM, PIECE = "application/x-www-form-urlencoded", "application/offset+octet-stream"
FORMER_REVIEWER = "former reviewer's token"  # has the scope, but the role ended
FORMER_OPERATOR = "former operator's token"
USERS = ("other", "viewer", "submitter", "owner", "reviewer", "operator")
READERS = {"link", "viewer", "submitter", "owner", "reviewer", "token"}  # of what is not public
OBJECTION_READERS = {"other", "reviewer", "operator"}  # `other` filed it
SENDERS = {"submitter", "owner", "token"}  # of drafts
FOR_OWNERS = "This page is for owners of the organisation."  # with status 404, to its other members
FORBIDDEN = 403
NOT_FOUND = {404, 410}
# Where the object of a route does not exist here, 404 shows that the client passed the check. The lab refuses with 403.
MISSING = {
    "name": "lab-1", "device_id": 4711, "window_id": 4711, "template_id": "t-missing2",
    "takedown_id": 4711, "hiding_id": 4711, "sha256": "0" * 64,
    "number": 1, "day": "2026-01-01", "code": "2026-01",
    "publication": "none", "key": "none", "digest": "0" * 16, "uidb36": "1", "form": "csv", "first": 1, "last": 2,
    "category": "nvme-flash", "vendor": "exemplar", "act": "publish", "decision": "decline", "slug": "none",
    "maker_id": 4711,
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
    links: dict[str, Any] = field(default_factory=dict)
    objects: dict[str, dict[str, Any]] = field(default_factory=dict)  # of the organisation, by the begin of a route
    foreign_objects: dict[str, Any] = field(default_factory=dict)

    def hidden_from(self, person: str) -> list[str]:
        """Return the ids that a client may not learn: of the organisation, and of an objection before its admission."""
        objection = self.objects["/objections/"]["public_id"]
        request = self.objects["/submissions/certificate-requests/"]["public_id"]
        read = [self.submission.public_id, self.run.public_id, request]
        sent = [self.objects["/submit/"]["public_id"]]
        objections = [] if person in OBJECTION_READERS else [objection]
        return [*([] if person in READERS else read), *([] if person in SENDERS else sent), *objections]

    @property
    def foreign(self) -> list[str]:
        """Return what no client may learn, because it belongs to a user who is none of them."""
        return ["token-of-stranger", "browser-of-stranger"]

    def parameters(self, row: Row, person: str) -> tuple[dict[str, Any], bool]:
        """Return values for the parameters of a route, and whether the object exists."""
        if row.route.startswith("/lab/"):
            return MISSING | {"public_id": "d-missing2"}, False
        for begin, values in self.objects.items():
            if row.route.startswith(begin):
                return MISSING | values | (self.foreign_objects if person == "stranger" else {}), True
        if any(f"<{name}>" in row.route for name in self.own["stranger"]):
            return self.own[person], True
        changed = {"act": "facts"} if row.route.startswith("/review/products/") else {}
        return MISSING | {"slug": PRODUCT, "public_id": self.public_run.public_id} | self.links | changed, False

    def address(self, row: Row, person: str, values: dict[str, Any]) -> str:
        """Return an address of the route, with the key of the secret link for its holder."""
        path = re.sub(r"<(\w+)>", lambda found: str(values[found[1]]), row.route)
        takes_key = not row.route.startswith("/api/") or row.route.endswith("/intervals/")
        return f"{path}?key={self.secrets['link']}" if person == "link" and takes_key else path

    def ask(self, row: Row, person: str, address: str) -> Any:
        """Return the response of the site; what the request changes is undone."""
        forget_all()
        process_limits.forget_all()
        client = Client(raise_request_exception=False)
        client.cookies.load(self.cookies.get(person, {}))
        headers = {"Authorization": f"Bearer {self.secrets[person]}"} if person.endswith("token") else {}
        is_upload = row.route.startswith("/uploads/")
        if is_upload:
            headers["Tus-Resumable"] = "1.0.0"
        if row.route == PASSKEY_SIGN_IN:  # asked by a script of the sign-in page
            headers["Accept"] = "application/json"
        with _undone():
            body: tuple[bytes, str] = (b"piece", PIECE) if is_upload else (b"", FORM)
            answer: Any = client.generic(row.method, address, *body, headers=headers)
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
            for secret in [*self.foreign, *self.hidden_from(person)]:
                assert secret not in answer.text, f"{person}: {row.method} {row.route} reveals {secret}"
        if person == "visitor" and row.answers.get(person) == "no" and not row.route.startswith(("/runs/", "/api/")):
            assert is_refused(answer), f"{row.method} {row.route} does not lead to the sign-in"
        if person in {"viewer", "submitter"} and answer.status_code in NOT_FOUND and FOR_OWNERS in answer.text:
            return False
        if exists and answer.status_code in NOT_FOUND:
            return not self._is_unknown(row, person, values, answer)
        if exists and answer.status_code == FORBIDDEN and person not in READERS:
            other = self._ask_for_unknown(row, person, values)[0]
            assert other.status_code == FORBIDDEN, f"{person}: {row.method} {row.route} reveals what exists"
        return not is_refused(answer)

    def _is_unknown(self, row: Row, person: str, values: dict[str, Any], answer: HttpResponse) -> bool:
        """Return whether the response is the same as for an object that does not exist."""
        other, invented = self._ask_for_unknown(row, person, values)
        names = [str(each[name]) for name in invented if name in values for each in (invented, values)]
        texts = [_without(each.text, names) for each in (answer, other)]
        return other.status_code == answer.status_code and texts[0] == texts[1]

    def _ask_for_unknown(self, row: Row, person: str, values: dict[str, Any]) -> tuple[HttpResponse, dict[str, Any]]:
        named = [name for name in ("public_id", "delivery_id", "slug", "key") if name in values]
        invented: dict[str, Any] = {name: f"{str(values[name])[:2]}missing2" for name in named}
        invented |= dict.fromkeys([*self.own["stranger"], "user_id", "mail_id"], 999_999)
        if values.items() >= self.foreign_objects.items():
            del invented["slug"]  # the organisation is known to the client
        return self.ask(row, person, self.address(row, person, values | invented)), invented


def _without(text: str, names: Iterable[str]) -> str:
    text = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", text)
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, "x").replace(name.replace("-", " "), "x")  # as it is, and as words to search for
    return text


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
    exemplar, foreign, columns = make_organisation(), make_organisation("foreign"), {"password": PASSWORD}
    users = {person: make_user(person, **columns) for person in ("other", "viewer", "submitter", "owner")}
    users |= {role: make_user(role, **columns, **{f"is_{role}": True}) for role in ("reviewer", "operator")}
    stranger = make_user("stranger", foreign)
    users["other"].memberships.create(organisation=foreign, role="owner")
    for role in ("viewer", "submitter", "owner"):
        users[role].memberships.create(organisation=exemplar, role=role)
    submission, shown = (send(exemplar, log_bytes(case), users["owner"]) for case in ("four-us", "slow-disk-ms"))
    sweep()
    product = Product.objects.create(slug=PRODUCT, category="nvme-flash", vendor="Exemplar", model="EX4")
    Run.objects.filter(submission=shown).update(visibility=Visibility.PUBLIC, product=product, predates_approvals=True)
    world = World(submission, submission.runs.get(), shown.runs.get())
    for person in users:
        client = Client()
        client.post("/accounts/login/", {"login": person, "password": PASSWORD})
        world.cookies[person] = {name: morsel.value for name, morsel in client.cookies.items()}
    inviting = make_organisation("inviting")
    make_user("inviter", inviting)
    for person in USERS:
        world.own[person] = _own_objects(users[person], exemplar, inviting)
    world.own |= dict.fromkeys((*set(PEOPLE) - set(USERS), "stranger"), _own_objects(stranger, foreign, inviting))
    world.objects = _objects_of_organisation(exemplar, users, submission, world.run)
    of_lab = _objects_of_lab(exemplar, users["operator"])
    world.objects |= _objects_of_objection(world.public_run, users["other"]) | of_lab
    world.foreign_objects = (
        {"user_id": stranger.pk}
        | _objects_of_webhook(foreign, stranger)
        | {name: world.own["stranger"][name] for name in ("invitation_id", "token_id", "publisher_id")}
    )
    *_, user_id, signature, _ = preference_link(stranger, "stranger@example.org").split("/")
    world.links = {"user_id": user_id, "signature": signature, "secret": "invitation-of-stranger"}
    world.secrets["link"] = link_key(submission)
    world.secrets["token"] = issue_token(users["submitter"], exemplar, "script")[1]
    world.secrets["other token"] = issue_token(users["other"], foreign, "script")[1]
    world.secrets[FORMER_REVIEWER] = issue_token(users["other"], foreign, "script", ["review"])[1]
    world.secrets[FORMER_OPERATOR] = issue_token(users["submitter"], exemplar, "script", ["order", "host"])[1]
    return world


def _objects_of_organisation(
    organisation: Organisation, users: dict[str, Any], submission: Submission, run: Run
) -> dict[str, dict[str, Any]]:
    """Return values for the parameters of a route, by the begin of the route; the longest first."""
    owner = users["owner"]
    draft = create_draft(organisation, owner)
    request = CertificateRequest.objects.create(organisation=organisation, created_by=owner)
    request.submissions.add(submission)
    mail = Mail.objects.create(recipient=owner, message_id="1", is_digest=False, state=Mail.State.FAILED)
    machine, _ = issue_token(owner, organisation, "bench", kind="machine")
    members = {"user_id": users["viewer"].pk, "invitation_id": _invite(organisation, owner, "new@example.org").pk}
    members |= {"token_id": machine.pk, "publisher_id": _trust(organisation, owner).pk}
    webhook = _objects_of_webhook(organisation, owner)
    return {
        "/accounts/organisations/": {"slug": organisation.slug} | members | webhook,
        "/api/v1/webhooks/": webhook,
        "/accounts/mail/undelivered/": {"mail_id": mail.pk},
        "/submissions/certificate-requests/": {"public_id": request.public_id},
        "/submissions/": {"public_id": submission.public_id},
        "/api/v1/submissions/": {"public_id": submission.public_id},
        "/submit/": {"public_id": draft.public_id},
        "/api/v1/drafts/": {"public_id": draft.public_id},
        "/uploads/": {"key": add_file(draft, "load.log", 10).key},
        "/runs/": {"public_id": run.public_id},
        "/review/runs/": {"public_id": run.public_id},
        "/api/v1/runs/": {"public_id": run.public_id},
    }


def _objects_of_webhook(organisation: Organisation, owner: Any) -> dict[str, Any]:
    """Return the ids of a webhook and of a message to it."""
    webhook = Webhook.objects.create(
        organisation=organisation, url="https://receiver.example/", topics=["run.published"], encrypted_secret="",
        created_by=owner,
    )  # fmt: skip
    delivery = webhook.deliveries.create(topic="run.published", subject="s-missing2", body="{}", state="dead")
    return {"public_id": webhook.public_id, "delivery_id": delivery.public_id}


def _objects_of_objection(run: Run, filer: Any) -> dict[str, dict[str, Any]]:
    """Return the same for an objection that waits for a reviewer."""
    objection = file_objection(run, filer, "Wrong drive.", None, [Attachment("proof.html", BytesIO(b"<p>"))])
    values = {"public_id": objection.public_id}
    return {
        "/objections/new/": {"public_id": run.public_id},
        "/objections/": values | {"sha256": objection.files.get().sha256},
        "/review/objections/": values | {"act": "admit"},
    }


def _objects_of_lab(organisation: Organisation, operator: Any) -> dict[str, dict[str, Any]]:
    """Return the same for the lab in the API."""
    host = Host.objects.create(name="bench-1", kind="local")
    drive = {"drive_key": "file:bench-1:8:5", "path": "/srv/bench-1", "size_bytes": 2**30}
    device = host.devices.create(label="bench drive", identity_kind="virtual", identity={}, **drive)
    dispatch = order(device, organisation, Order(Decimal(1), 60, 10), operator)
    campaign = start(device, organisation, CampaignOrder(Terms()), operator)
    columns = {"kind": "campaign", "name": "bench template", "settings": {}, "created_by": operator}
    template = organisation.order_templates.create(**columns)
    window = plan_window(host, timezone.now() + timedelta(days=1), None, "new fans", operator)
    return {
        "/api/v1/lab/maintenance/": {"window_id": window.pk},
        "/api/v1/lab/templates/": {"public_id": template.public_id},
        "/api/v1/lab/hosts/": {"name": host.name},
        "/api/v1/lab/devices/": {"device_id": device.pk},
        "/api/v1/lab/dispatches/": {"public_id": dispatch.public_id},
        "/api/v1/lab/campaigns/": {"public_id": campaign.public_id},
    }


def _invite(organisation: Organisation, owner: Any, email: str) -> Invitation:
    return Invitation.objects.create(
        organisation=organisation, email=email, role="viewer", invited_by=owner,
        digest=hash_token(f"invitation-of-{email.partition('@')[0]}"), expires_at=timezone.now() + timedelta(days=1),
    )  # fmt: skip


def _trust(organisation: Organisation, user: Any) -> TrustedPublisher:
    number = TrustedPublisher.objects.count()
    publisher: TrustedPublisher = TrustedPublisher.objects.create(
        organisation=organisation, created_by=user, name=f"publisher-{number}-of-{user}",
        issuer="https://issuer.example", audience="register", claims={"sub": str(user)},
    )  # fmt: skip
    return publisher


def _own_objects(user: Any, organisation: Organisation, inviting: Organisation) -> dict[str, int]:
    number = APIToken.objects.count()
    token = APIToken.objects.create(
        user=user, organisation=organisation, name=f"token-of-{user}", digest=f"{number:064}", scopes=["submit"]
    )
    session = UserSession.objects.create(
        user=user, session_key=f"{number:040}", ip="192.0.2.1", user_agent=f"browser-of-{user}"
    )
    (owner,) = (membership.user for membership in inviting.memberships.all())
    invitation = _invite(inviting, owner, f"{user}@example.org")
    return {
        "token_id": token.pk,
        "publisher_id": _trust(organisation, user).pk,
        "session_id": session.pk,
        "pk": token.pk,
        "invitation_id": invitation.pk,
    }
