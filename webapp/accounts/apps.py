"""Registration of the app with Django."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Users, memberships and tokens."""

    name = "webapp.accounts"
    label = "accounts"
