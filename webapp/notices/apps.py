"""Registration of the app with Django."""

from importlib import import_module

from django.apps import AppConfig


class NoticesConfig(AppConfig):
    """Notices and the mails that carry them."""

    name = "webapp.notices"
    label = "notices"

    def ready(self) -> None:
        """Connect the receivers that write notices."""
        import_module("webapp.notices.subscriptions")
        import_module("webapp.notices.objection_notices")
