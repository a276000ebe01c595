"""The settings that select how mail is sent."""

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.mail import get_connection

from webapp.notices import providers


@pytest.mark.parametrize(
    ("name", "host", "expected"),
    [("", "", "folder"), ("", "smtp.example.org", "smtp"), ("folder", "smtp.example.org", "folder"),
     ("postmark", "smtp.example.org", "postmark")],
)  # fmt: skip
def test_mail_goes_to_a_folder_unless_a_server_or_a_provider_is_named(name, host, expected):
    assert providers.read_provider(name, host, "key") == expected


@pytest.mark.parametrize(
    ("name", "key", "message"),
    [("pigeon", "key", "MAIL_PROVIDER: expected one of folder, smtp, brevo, .* got 'pigeon'"),
     ("postmark", "", "set MAIL_PROVIDER_KEY"), ("smtp", "", "set EMAIL_HOST")],
)  # fmt: skip
def test_an_incomplete_choice_is_refused_with_the_remedy(name, key, message):
    with pytest.raises(ImproperlyConfigured, match=message):
        providers.read_provider(name, "", key)


@pytest.mark.parametrize("name", providers.KEY_NAMES)
def test_each_provider_takes_its_key_and_address(name, settings):
    settings.ANYMAIL = providers.anymail_settings(name, "secret-key", "https://mail.example.org/", 10)
    backend = get_connection(providers.backend_of(name))
    assert "secret-key" in vars(backend).values()
    assert backend.api_url.startswith("https://mail.example.org/")
    assert backend.timeout == 10
