"""The Celery app: the register's alarm clock. PostgreSQL is the queue (docs/decisions)."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

app = Celery("drivecert")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["runners"])
