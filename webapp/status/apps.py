"""Registration of the app with Django."""

from django.apps import AppConfig


class StatusConfig(AppConfig):
    """The public status page and its history."""

    name = "webapp.status"
    label = "status"
