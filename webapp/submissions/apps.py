"""Registration of the app with Django."""

from django.apps import AppConfig


class SubmissionsConfig(AppConfig):
    """The upload form, a submission's page, the review queue."""

    name = "webapp.submissions"
    label = "submissions"
