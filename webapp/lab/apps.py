"""Registration of the app with Django."""

from django.apps import AppConfig


class LabConfig(AppConfig):
    """Staff pages: hosts, devices, dispatches."""

    name = "webapp.lab"
    label = "lab"
