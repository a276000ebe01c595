"""Registration of the app with Django."""

from django.apps import AppConfig


class RunnersConfig(AppConfig):
    """The runners package as a Django app."""

    name = "runners"

    def ready(self) -> None:
        """Listen to what the packages below tell."""
        from runners import alarms  # noqa: F401, PLC0415 - importing connects; models are loaded only now
