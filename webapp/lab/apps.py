"""Registration of the app with Django."""

from django.apps import AppConfig


class LabConfig(AppConfig):
    """Staff pages of the lab: hosts, devices, dispatches and campaigns."""

    name = "webapp.lab"
    label = "lab"
