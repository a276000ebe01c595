"""Registration of the app with Django."""

from importlib import import_module

from django.apps import AppConfig


class RegisterConfig(AppConfig):
    """The public pages."""

    name = "webapp.register"
    label = "register"

    def ready(self) -> None:
        """Have every event purge what it makes out of date."""
        import_module("webapp.register.pagecache.updates")
