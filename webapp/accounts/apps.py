"""Registration of the app with Django."""

from importlib import import_module

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Accounts, organisations and their members."""

    name = "webapp.accounts"
    label = "accounts"

    def ready(self) -> None:
        """Connect the signals that the audit trail records, and the one that dates sessions."""
        import_module("webapp.accounts.audit.receivers")
        import_module("webapp.accounts.staff_sessions")
