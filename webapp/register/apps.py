"""Registration of the app with Django."""

from importlib import import_module

from django.apps import AppConfig


class RegisterConfig(AppConfig):
    """The public pages."""

    name = "webapp.register"
    label = "register"

    def ready(self) -> None:
        """Connect the signals that purge outdated pages and remove dumps after an event."""
        import_module("webapp.register.snapshots.updates")
        import_module("webapp.register.dumps.removal")
