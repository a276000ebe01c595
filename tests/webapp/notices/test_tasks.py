"""The periodic tasks: sending, and the end of old rows."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from webapp.celery import app
from webapp.notices.models import Mail, Notice
from webapp.notices.tasks import RETENTION, remove_old

pytestmark = pytest.mark.django_db


def test_both_tasks_are_scheduled_under_their_names():
    app.loader.import_default_modules()
    scheduled = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    assert {"notices.send", "notices.remove_old"} <= scheduled & set(app.tasks)


@pytest.mark.parametrize(("seconds", "left"), [(-60, 1), (60, 0)])
def test_mails_and_notices_are_removed_90_days_after_their_end(mail_server, declined, sweep_mail, seconds, left):
    declined()
    sweep_mail()
    ended_at = timezone.now() - RETENTION - timedelta(seconds=seconds)
    Mail.objects.update(ended_at=ended_at)
    Notice.objects.update(created_at=ended_at)
    remove_old()
    assert (Mail.objects.count(), Notice.objects.count()) == (left, left)


def test_what_was_not_sent_yet_is_never_removed(declined):
    declined()
    Notice.objects.update(created_at=timezone.now() - 2 * RETENTION)
    remove_old()
    assert Notice.objects.count() == 1
