"""Registration of the app with Django."""

from django.apps import AppConfig


class ResultsConfig(AppConfig):
    """The results package as a Django app."""

    name = "results"
