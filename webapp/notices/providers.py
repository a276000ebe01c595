"""Ways of sending mail: a folder, SMTP, or the API of a provider (django-anymail).

The settings import this module, so it imports nothing of the register.
"""

from django.core.exceptions import ImproperlyConfigured

FOLDER, SMTP = "folder", "smtp"
# The providers of django-anymail that need one key, with the name of the key there.
KEY_NAMES = {
    "brevo": "API_KEY",
    "mailersend": "API_TOKEN",
    "mailgun": "API_KEY",
    "mailtrap": "API_TOKEN",
    "mandrill": "API_KEY",
    "postmark": "SERVER_TOKEN",
    "resend": "API_KEY",
    "sparkpost": "API_KEY",
}
DJANGO_BACKENDS = {FOLDER: "filebased", SMTP: "smtp"}


def read_provider(name: str, smtp_host: str, key: str) -> str:
    """Return the way of sending mail. Unset, it is SMTP if there is a mail server, and else the folder."""
    provider = name or (SMTP if smtp_host else FOLDER)
    if provider not in DJANGO_BACKENDS and provider not in KEY_NAMES:
        expected = ", ".join([*DJANGO_BACKENDS, *KEY_NAMES])
        raise ImproperlyConfigured(f"MAIL_PROVIDER: expected one of {expected}, got {name!r}")
    if provider == SMTP and not smtp_host:
        raise ImproperlyConfigured("MAIL_PROVIDER is smtp, but there is no mail server: set EMAIL_HOST")
    if provider in KEY_NAMES and not key:
        raise ImproperlyConfigured(f"MAIL_PROVIDER is {provider}, but there is no key: set MAIL_PROVIDER_KEY")
    return provider


def backend_of(provider: str) -> str:
    """Return the class that sends mail."""
    if provider in KEY_NAMES:
        return f"anymail.backends.{provider}.EmailBackend"
    return f"django.core.mail.backends.{DJANGO_BACKENDS[provider]}.EmailBackend"


def anymail_settings(provider: str, key: str, api_url: str, timeout_s: int) -> dict[str, object]:
    """Return the settings of django-anymail; empty if it does not send the mail."""
    if provider not in KEY_NAMES:
        return {}
    prefix = provider.upper()
    chosen: dict[str, object] = {f"{prefix}_{KEY_NAMES[provider]}": key, "REQUESTS_TIMEOUT": timeout_s}
    return chosen | ({f"{prefix}_API_URL": api_url} if api_url else {})
