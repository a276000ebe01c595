"""Registration of the app with Django."""

from django.apps import AppConfig


class RegisterConfig(AppConfig):
    """The public pages."""

    name = "webapp.register"
    label = "register"
