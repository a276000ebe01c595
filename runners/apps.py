"""Registration of the app with Django."""

from django.apps import AppConfig


class RunnersConfig(AppConfig):
    """The runners package as a Django app."""

    name = "runners"
