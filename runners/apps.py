"""Registration of the app with Django."""

from django.apps import AppConfig


class RunnersConfig(AppConfig):
    """The runners package as a Django app."""

    name = "runners"

    def ready(self) -> None:
        """Register the tasks: an order finds its task by name."""
        from runners import tasks  # noqa: F401, PLC0415 - the import registers them; models are loaded only now
