"""Registration of the app with Django."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    """The API, version 1."""

    name = "webapp.api"
    label = "api"
