"""Registration of the app with Django."""

from django.apps import AppConfig


class TracingConfig(AppConfig):
    """The traces that rows of the queue keep."""

    name = "webapp.tracing"
    label = "tracing"
