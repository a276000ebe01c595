"""Registration of the app with Django."""

from django.apps import AppConfig


class WebappConfig(AppConfig):
    """The webapp package as a Django app."""

    name = "webapp"
