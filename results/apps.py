"""Registration of the app with Django."""

from django.apps import AppConfig


class ResultsConfig(AppConfig):
    """The results package as a Django app."""

    name = "results"

    def ready(self) -> None:
        """Connect the receivers of signals."""
        from results import tasks  # noqa: F401, PLC0415 - the import connects them; models are loaded only now
