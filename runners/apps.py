"""Registration of the app with Django."""

from django.apps import AppConfig


class RunnersConfig(AppConfig):
    """The runners package as a Django app."""

    name = "runners"

    def ready(self) -> None:
        """Connect the receivers of signals."""
        from runners import tasks  # noqa: F401, PLC0415 - the import connects them; models are loaded only now
