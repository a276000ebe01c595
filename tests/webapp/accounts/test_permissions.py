"""Who may do what: the table of docs/security.md, tried with requests, and the roles of earlier releases."""

from dataclasses import dataclass
from datetime import timedelta

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.test import Client
from django.utils import timezone

from results.ingest.queue import sweep
from results.intake.uploads import create_draft
from results.lifecycle.corrections import annotate
from results.lifecycle.objection_filing import file_objection
from results.lifecycle.objections import admit
from results.lifecycle.questions import ask
from results.models import CertificateRequest, Draft, Objection, Organisation, Submission
from tests.results.builders import log_bytes, make_organisation, make_user, send
from tests.results.rows import from_a_log, make_product, make_run
from tests.webapp.people import enter_password
from tests.webapp.routes.table import tables
from webapp.accounts.models import APIToken, Role, User, hash_token
from webapp.accounts.permissions import Action, may
from webapp.accounts.tokens.rules import find_token, issue_token

FIRST_END = (timezone.now() + timedelta(days=2)).replace(second=0, microsecond=0)
ROLES = ["viewer", "submitter", "owner", "reviewer", "operator", "other"]


@dataclass
class Attempt:
    """A user who tries an action of the table on a submission of an organisation."""

    client: Client
    submission: Submission

    @property
    def page(self):
        return f"/submissions/{self.submission.public_id}/"

    def read(self):
        return self.client.get(self.page).status_code == 200

    def share(self):
        return "?key=" in self.client.post(f"{self.page}link/").text

    def change_slices(self):
        submission = send(self.submission.organisation, log_bytes("four-us"))
        sweep()
        self.client.post(f"/submissions/{submission.public_id}/slices/", {"slice_length_s": "20"})
        submission.refresh_from_db()
        return submission.slice_length_s == 20

    def lengthen_embargo(self):
        self.client.post(f"{self.page}embargo/", {"embargo_until": f"{FIRST_END:%Y-%m-%dT%H:%M}", "reason": "a"})
        later = FIRST_END + timedelta(days=1)
        self.client.post(f"{self.page}embargo/", {"embargo_until": f"{later:%Y-%m-%dT%H:%M}", "reason": "a"})
        self.submission.refresh_from_db()
        return self.submission.embargo_until == later

    def shorten_embargo(self):
        Submission.objects.update(embargo_until=FIRST_END + timedelta(days=1))
        self.client.post(f"{self.page}embargo/", {"embargo_until": f"{FIRST_END:%Y-%m-%dT%H:%M}", "reason": "a"})
        self.submission.refresh_from_db()
        is_shorter = self.submission.embargo_until == FIRST_END
        self.client.post(f"{self.page}embargo/", {"embargo_until": "", "reason": "a"})
        self.submission.refresh_from_db()
        assert is_shorter == (self.submission.embargo_until is None)
        return is_shorter

    def submit(self):
        return self.client.post("/submit/").status_code in {200, 400}  # without a file, the form says so

    def delete_a_draft(self):
        draft = create_draft(self.submission.organisation, make_user("somebody"))
        address = f"/submit/{draft.public_id}/"
        can_see = self.client.get(address).status_code == 200
        self.client.post(f"{address}delete/")
        return can_see and not Draft.objects.exists()

    def object_to_a_result(self):
        run = make_run(make_product(), **from_a_log())
        self.client.post(f"/objections/new/{run.public_id}/", {"text": "Wrong drive."})
        return Objection.objects.filter(run=run).exists()

    def reply_to_an_objection(self):
        run = make_run(make_product(), **from_a_log())
        Submission.objects.filter(pk=run.submission.pk).update(organisation=self.submission.organisation)
        objection = file_objection(run, make_user("filer"), "Wrong drive.")
        admit(objection, make_user("admitting", is_reviewer=True))
        annotation = annotate(run, "Short test.", make_user("annotating", is_reviewer=True))
        page = f"/submissions/{run.submission.public_id}/"
        self.client.post(f"{page}objection-reply/", {"objection": objection.public_id, "reply": "No."})
        self.client.post(f"{page}annotation-reply/", {"annotation": annotation.pk, "reply": "Yes."})
        objection.refresh_from_db()
        annotation.refresh_from_db()
        assert bool(objection.reply) == bool(annotation.reply)
        return objection.reply == "No."

    def admit_an_objection(self):
        objection = file_objection(make_run(make_product(), **from_a_log()), make_user("filer"), "Wrong drive.")
        self.client.post(f"/review/objections/{objection.public_id}/admit/")
        objection.refresh_from_db()
        return objection.state == "admitted"

    def answer(self):
        submission = send(self.submission.organisation, log_bytes("four-us"))
        sweep()
        question = ask(submission, make_user("asker", is_reviewer=True), "Which slot?")
        self.client.post(f"/submissions/{submission.public_id}/answer/", {"answer": "Slot 1."})
        question.refresh_from_db()
        return question.answer == "Slot 1."

    def request_certificate(self):
        sent = [send(self.submission.organisation, log_bytes(name)) for name in ("four-us", "slow-disk-ms")]
        sweep()
        chosen = {"submissions": [each.public_id for each in sent]}
        self.client.post("/submissions/certificate-requests/", chosen)
        return CertificateRequest.objects.exists()

    def withdraw(self):
        submission = send(self.submission.organisation, log_bytes("four-us"))
        sweep()
        page = f"/submissions/{submission.public_id}/"
        self.client.post(f"{page}own-withdrawal/", {"reason": "wrong drive"})
        was_withdrawn = submission.runs.get().visibility == "retracted"
        self.client.post(f"{page}own-return/")
        return was_withdrawn and submission.runs.get().visibility == "unreviewed"

    def create_token(self):
        form = {"name": "script", "organisation": self.submission.organisation_id}
        self.client.post("/accounts/tokens/", form)
        return APIToken.objects.exists()

    def manage_machine_tokens(self):
        page = f"{self.organisation_pages}tokens/"
        self.client.post(page, {"name": "script", "machine": "bench"})
        is_created = APIToken.objects.filter(kind="machine").exists()
        for token in APIToken.objects.all():
            self.client.post(f"{page}{token.pk}/revoke/")
        assert not APIToken.objects.valid().exists()
        return is_created

    @property
    def organisation_pages(self):
        return f"/accounts/organisations/{self.submission.organisation.slug}/"

    def read_members(self):
        return self.client.get(f"{self.organisation_pages}members/").status_code == 200

    def read_limits(self):
        return self.client.get(f"{self.organisation_pages}quotas/").status_code == 200

    def manage_members(self):
        organisation = self.submission.organisation
        member = make_user("member")
        member.memberships.create(organisation=organisation, role=Role.VIEWER)
        one_member = f"{self.organisation_pages}members/{member.pk}/"
        answers = [
            self.client.post(f"{self.organisation_pages}members/", {"email": "n@example.org", "role": "viewer"}),
            self.client.post(f"{one_member}role/", {"role": "submitter"}),
            self.client.post(f"{one_member}remove/"),
        ]
        successor = make_user("successor", organisation)
        enter_password(self.client)
        answers.append(self.client.post(f"{self.organisation_pages}transfer/", {"member": successor.pk}))
        done = {answer.status_code for answer in answers}
        assert len(done) == 1, answers
        return done == {302} and organisation.invitations.count() == 1

    def read_events(self):
        return self.client.get(f"{self.organisation_pages}events/").status_code == 200

    def leave(self):
        make_user("another-owner", self.submission.organisation)
        return self.client.post(f"{self.organisation_pages}leave/").status_code == 302

    def review(self):
        answers = [self.client.get("/submissions/review/"), self.client.post(f"{self.page}decline/", {"reason": "x"})]
        return [answer.status_code for answer in answers] == [200, 302]

    def change_product(self):
        return self.client.get("/review/products/").status_code == 200

    def run_the_lab(self):
        return self.client.get("/lab/").status_code == 200

    def confirm(self):
        Organisation.objects.update(confirmed_at=None)
        self.client.post(f"/accounts/organisations/{self.submission.organisation.slug}/confirm/", {"name": "Acme"})
        return Organisation.objects.filter(confirmed_at__isnull=False).exists()

    def take_down(self):
        answer = self.client.get("/takedowns/")  # an operator confirms their identity first
        return answer.status_code == 302 and answer.headers["Location"].startswith("/accounts/reauthenticate/")

    def read_mail(self):
        return self.client.get("/accounts/mail/").status_code == 200

    def read_undelivered_mail(self):
        return self.client.get("/accounts/mail/undelivered/").status_code == 200


TRIES = {
    "read the submissions of the organisation, and its unpublished results": Attempt.read,
    "create and revoke the secret link of a submission": Attempt.share,
    "change the slice length of a submission": Attempt.change_slices,
    "set an embargo of a submission, or let it end later; reviewers state a reason": Attempt.lengthen_embargo,
    "shorten or end the embargo of a submission": Attempt.shorten_embargo,
    "submit a log for the organisation": Attempt.submit,
    "see, submit and delete a draft of the organisation": Attempt.delete_a_draft,
    "object to a public result of another organisation": Attempt.object_to_a_result,
    "reply in public to an objection or annotation of a result of the organisation": Attempt.reply_to_an_objection,
    "admit, refuse and decide an objection": Attempt.admit_an_objection,
    "answer the question of a reviewer about a submission of the organisation": Attempt.answer,
    "request a certificate for submissions of the organisation": Attempt.request_certificate,
    "withdraw a submission of the organisation, and return it to review": Attempt.withdraw,
    "create a token that acts for the organisation": Attempt.create_token,
    "create and revoke the tokens of the organisation's machines": Attempt.manage_machine_tokens,
    "read the names and roles of the members of the organisation": Attempt.read_members,
    "read the limits of the organisation, and what is used of them": Attempt.read_limits,
    "invite members; change roles; remove members; transfer the ownership": Attempt.manage_members,
    "read the account events of the organisation": Attempt.read_events,
    "leave the organisation": Attempt.leave,
    "review, publish and withdraw results": Attempt.review,
    "change products: names, facts, list prices, merges and splits; link vendors": Attempt.change_product,
    "run the lab: hosts, devices, orders, campaigns": Attempt.run_the_lab,
    "withhold a public result for legal reasons, confirm and end it": Attempt.take_down,
    "confirm the name of an organisation": Attempt.confirm,
    "read the mail that a register without a mail server stored": Attempt.read_mail,
    "see which mails could not be delivered, and send them again": Attempt.read_undelivered_mail,
}


def documented_table():
    """Return the table of docs/security.md: for each action, the answer for each role."""
    (rows,) = [rows for header, rows in tables() if header == ["action", *ROLES]]
    return {action: dict(zip(ROLES, answers, strict=True)) for action, *answers in rows}


def person_with(role, organisation):
    if role in Role.values:
        user = make_user(role)
        user.memberships.create(organisation=organisation, role=role)
        return user
    if role == "other":
        return make_user(role)
    return make_user(role, password="correct horse battery", **{f"is_{role}": True})


def test_each_row_of_the_table_is_tried():
    assert list(documented_table()) == list(TRIES)


@pytest.mark.django_db
@pytest.mark.parametrize("action", TRIES)
@pytest.mark.parametrize("role", ROLES)
def test_each_role_may_do_what_the_table_says(action, role, as_user, evidence_dir, stand_in):
    organisation = make_organisation()
    submission = send(organisation, log_bytes("bom-utf8"))
    was_done = TRIES[action](Attempt(as_user(person_with(role, organisation)), submission))
    assert was_done == (documented_table()[action][role] == "yes")


@pytest.mark.django_db
@pytest.mark.parametrize("role", ["viewer", "submitter", "owner"])
def test_a_role_counts_in_its_own_organisation_only(role):
    own, foreign = make_organisation("own"), make_organisation("foreign")
    user = person_with(role, own)
    assert may(user, Action.READ, own.pk)
    assert not any(may(user, action, foreign.pk) for action in Action)


@pytest.mark.django_db
def test_a_closed_account_may_do_nothing():
    organisation = make_organisation()
    user = make_user("olga", organisation, is_active=False, is_reviewer=True, is_operator=True)
    assert not any(may(user, action, organisation.pk) for action in Action)


@pytest.mark.django_db
def test_a_token_ends_when_its_owner_becomes_a_viewer(vera, exemplar):
    token, secret = issue_token(vera, exemplar, "script")
    vera.memberships.update(role=Role.SUBMITTER)
    assert find_token(secret) == token
    vera.memberships.update(role=Role.VIEWER)
    assert find_token(secret) is None


@pytest.mark.django_db
def test_a_viewer_is_told_why_the_form_is_closed(as_user, vera):
    vera.memberships.update(role=Role.VIEWER)
    assert "Ask one of its owners for the role submitter." in as_user(vera).get("/submit/").text


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_staff_of_earlier_releases_become_reviewers_and_operators_and_members_owners():
    executor = MigrationExecutor(connection)
    newest = [leaf for leaf in executor.loader.graph.leaf_nodes() if leaf[0] == "accounts"]
    executor.migrate([("accounts", "0003_end_sessions_with_plain_keys")])
    old = executor.loader.project_state([("accounts", "0003_end_sessions_with_plain_keys")]).apps
    organisation = Organisation.objects.create(slug="acme", name="Acme", kind="vendor")
    users = old.get_model("accounts", "User").objects
    staff, vera = users.create(username="staff", is_staff=True), users.create(username="vera")
    old.get_model("accounts", "Membership").objects.create(user=vera, organisation_id=organisation.pk)
    secret = "dc_of-an-earlier-release"
    old.get_model("accounts", "APIToken").objects.create(
        user=vera, organisation_id=organisation.pk, name="script", digest=hash_token(secret)
    )
    MigrationExecutor(connection).migrate(newest)

    found = {user.username: (user.is_reviewer, user.is_operator) for user in User.objects.all()}
    assert found == {staff.username: (True, True), vera.username: (False, False)}
    assert User.objects.get(username="vera").memberships.get().role == Role.OWNER
    assert find_token(secret) is not None

    MigrationExecutor(connection).migrate([("accounts", "0003_end_sessions_with_plain_keys")])
    assert {user.username: user.is_staff for user in users.all()} == {"staff": True, "vera": False}
    MigrationExecutor(connection).migrate(newest)
