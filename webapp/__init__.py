"""Pages, forms, API, login, settings and the Celery app: everything that faces people."""

# Imported here so that tasks declared with `shared_task` find the app in every process that loads Django.
from webapp.celery import app as celery_app

__all__ = ["celery_app"]
