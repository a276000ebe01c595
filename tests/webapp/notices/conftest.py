from datetime import timedelta

import pytest
from django.utils import timezone

from tests.results.builders import log_bytes, make_user
from tests.results.builders import send as send_log
from tests.results.fixtures import evidence_dir, no_broker, program, stand_in
from tests.webapp.notices.mail_server import MailServer
from tests.webapp.people import as_user, exemplar, otto, rita, vera
from webapp.notices.delivery import deliver
from webapp.notices.gathering import gather
from webapp.notices.kinds import Audience, Kind
from webapp.notices.outbox import notify

__all__ = ["as_user", "evidence_dir", "exemplar", "no_broker", "otto", "program", "rita", "stand_in", "vera"]


@pytest.fixture
def mail_server(settings):
    """Run a mail server, which the register uses."""
    server = MailServer()
    server.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_USE_TLS = "127.0.0.1", server.port, False
    settings.DEFAULT_FROM_EMAIL = "register@drivecert.example"
    settings.PUBLIC_URL = "https://drivecert.example"
    yield server
    server.stop()


@pytest.fixture
def submission(exemplar, evidence_dir, stand_in):
    """A submission of the organisation of vera, who did not send it herself and is the only member."""
    return send_log(exemplar, log_bytes("four-us"))


@pytest.fixture
def declined(submission, vera):
    """Return a function that writes a notice for vera, or for another user."""

    def write(user=None, reason="The drive is no drive."):
        subject = ("submission", submission.public_id)
        notify(Kind.DECLINED, subject, [user or vera], Audience.MEMBERS, details={"reason": reason})

    return write


@pytest.fixture
def sweep_mail():
    """Return a function that does what the periodic task does, some time from now."""

    def sweep(**later):
        now = timezone.now() + timedelta(**(later or {"minutes": 1}))
        gather(now)
        return deliver(now)

    return sweep


@pytest.fixture
def olga(db):
    return make_user("olga", is_operator=True)
