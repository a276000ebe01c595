"""Registration of the app with Django."""

from importlib import import_module

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    """Webhooks of organisations and their deliveries."""

    name = "webapp.webhooks"
    label = "webhooks"

    def ready(self) -> None:
        """Connect the receiver that queues deliveries."""
        import_module("webapp.webhooks.queueing")
