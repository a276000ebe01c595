"""Registration of the app with Django."""

from django.apps import AppConfig


class BackupConfig(AppConfig):
    """The backups that this register made."""

    name = "webapp.backup"
    label = "backup"
