"""Rows that a measure needs in the register: `manage.py shell` runs these functions, and their output is JSON."""

import io
import json
from hashlib import sha256
from secrets import token_hex, token_urlsafe
from typing import Any

from results.intake.submissions import accept_submission
from results.models import Organisation, Reading, Run, Submission, Visibility
from runners.inventory.agents import enrol_agent_host, join
from runners.inventory.enrolment import own_program_sha256
from tests.results.builders import FACTS, log_bytes, make_organisation, make_user
from webapp.accounts.tokens.rules import issue_token

MEMBERS = {"exemplar": ("vera", "dora", "kim", "milo", "paula", "tess"), "other": ("otto",)}
# Each token may send 60 logs and ask for 600 pages in a minute.
TOKENS_OF_MEMBER = 20
TOKENS_OF_ROLE = 100


def create() -> None:
    """Create two organisations and their owners. Prints their passwords and tokens."""
    people = {}
    for slug, names in MEMBERS.items():
        organisation = make_organisation(slug)
        for name in names:
            password = token_urlsafe(12)
            user = make_user(name, organisation, password=password)
            tokens = [issue_token(user, organisation, f"script {n}")[1] for n in range(TOKENS_OF_MEMBER)]
            people[name] = {"password": password, "tokens": tokens}
    print(json.dumps(people))


def create_roles() -> None:
    """Create a person of each role. Prints their tokens."""
    maker, lab = make_organisation("maker"), make_organisation("lab")
    roles: dict[str, tuple[Any, list[str], dict[str, bool]]] = {
        "submitter": (maker, ["submit"], {}),
        "owner": (maker, ["submit", "read-own"], {}),
        "reviewer": (lab, ["submit", "read-own", "review"], {"is_reviewer": True}),
        "operator": (lab, ["submit", "read-own", "order", "host"], {"is_operator": True}),
    }
    created = {}
    for role, (organisation, scopes, columns) in roles.items():
        user = make_user(role, organisation, **columns)
        created[role] = [issue_token(user, organisation, f"script {n}", scopes)[1] for n in range(TOKENS_OF_ROLE)]
    print(json.dumps(created))


def embargo(submission_id: str) -> None:
    """Put the runs of a submission under embargo. Prints the id of the first."""
    runs = Run.objects.filter(submission__public_id=submission_id)
    runs.update(visibility=Visibility.EMBARGOED, predates_approvals=True)
    print(json.dumps(runs.values_list("public_id", flat=True)[0]))


def numbered_log(series: str, number: int) -> bytes:
    """Return a log that differs from those of other series and numbers."""
    return log_bytes("slow-disk-ms") + f"{series} {number}\n".encode()


def store_logs(series: str, count: int) -> None:
    """Store logs of the organisation exemplar without reading them. Prints their number."""
    organisation = Organisation.objects.get(slug="exemplar")
    for number in range(count):
        content = io.BytesIO(numbered_log(series, number))
        accept_submission(organisation, content, "load.log", FACTS, Submission.Origin.API, None)
    unread = Reading.objects.filter(evidence__organisation=organisation, state=Reading.State.PENDING)
    print(json.dumps(unread.update(state=Reading.State.FAILED, error="not read by this measure")))


def create_senders(agents: int, tokens: int) -> None:
    """Create what the mixed load needs. Prints the tokens of scripts, the secrets of agents, and a submission."""
    organisation = make_organisation("exemplar")
    user = make_user("vera", organisation)
    secrets = []
    for number in range(agents):
        _, code = enrol_agent_host(f"agent-{number}", None)
        secret = token_hex(32)
        join(code, sha256(secret.encode()).hexdigest(), own_program_sha256(), "0.0.0")
        secrets.append(secret)
    content = io.BytesIO(log_bytes("four-us"))
    receipt = accept_submission(organisation, content, "load.log", FACTS, Submission.Origin.API, user)
    issued = [issue_token(user, organisation, f"script {number}")[1] for number in range(tokens)]
    print(json.dumps({"tokens": issued, "agents": secrets, "submission": receipt.submission.public_id}))
