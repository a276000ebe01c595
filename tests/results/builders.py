"""Rows and files for the tests of several packages."""

import hashlib
import io
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
from allauth.account.models import EmailAddress
from django.contrib.auth import get_user_model
from django.db import connection
from django.utils import timezone

from results.intake.submissions import SubmissionMetadata, accept_submission
from results.models import Organisation, Submission
from results.models.ids import hash_link_key

DATA = Path(__file__).parent.parent / "data"
LOGS = DATA / "act" / "6.6"
FACTS = SubmissionMetadata(
    vendor="Exemplar", model="EX4", part_number="EX4-3T2", capacity_gb=3200, category="nvme-flash", slice_length_s=10
)


def log_bytes(case: str) -> bytes:
    return (LOGS / f"{case}.log").read_bytes()


def recorded_reading(case: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((DATA / "readings" / f"{case}.json").read_text())
    return document


def make_organisation(slug: str = "exemplar") -> Organisation:
    return Organisation.objects.create(
        slug=slug, name=slug.title(), kind=Organisation.Kind.VENDOR, confirmed_at="2026-01-01T00:00Z"
    )


def make_user(username: str, *organisations: Organisation, **columns: Any) -> Any:
    user = get_user_model().objects.create_user(username, **columns)
    verify_address(user)
    for organisation in organisations:
        user.memberships.create(organisation=organisation, role="owner")
    return user


def verify_address(user: Any) -> None:
    """Give a user the verified address without which they reach only the page that enters one."""
    EmailAddress.objects.create(user=user, email=f"{user.username}@example.org", verified=True, primary=True)


def send(
    organisation: Organisation, content: bytes, actor: Any = None, facts: SubmissionMetadata = FACTS
) -> Submission:
    return accept_submission(organisation, io.BytesIO(content), "load.log", facts, "form", actor).submission


def link_key(submission: Submission) -> str:
    """Return the key of the submission's secret link, which it gets unless it has this one."""
    key = f"key-of-{submission.public_id}"
    submission.link_digest, submission.link_expires_at = hash_link_key(key), timezone.now() + timedelta(days=1)
    submission.save(update_fields=["link_digest", "link_expires_at"])
    return key


@contextmanager
def other_session() -> Iterator[psycopg.Connection[Any]]:
    """Open a connection like that of another process, with separate locks.

    At the end, wait until the server has released the locks. It does so a moment after the client has closed: on a
    busy machine, the next statement of another session comes earlier.
    """
    with _connect() as session:
        pid = session.info.backend_pid
        yield session
    with _connect() as witness:
        wait_for(lambda: not witness.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", [pid]).fetchone())


def _connect() -> psycopg.Connection[Any]:
    database = connection.settings_dict
    return psycopg.connect(
        dbname=database["NAME"], host=database["HOST"], user=database["USER"], password=database["PASSWORD"] or None,
        port=database["PORT"] or None, autocommit=True,
    )  # fmt: skip


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def wait_for(condition: Callable[[], Any]) -> Any:
    """Return the first true result of the condition; fail after 120 s."""
    for _ in range(2400):
        if answer := condition():
            return answer
        time.sleep(0.05)
    raise AssertionError("the condition was not true within 120 s")


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # the latter if it ends between open and read
        return False
