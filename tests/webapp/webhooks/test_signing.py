"""The signature of a message, verified by the receiver of the guide "Receive webhooks"."""

import re
import time
from textwrap import dedent

import pytest
from django.conf import settings as project

from webapp.webhooks.signing import new_secret, signature

GUIDE = project.BASE_DIR / "docs/how-to/receive-webhooks.md"
SECRET = new_secret()


@pytest.fixture
def verify(monkeypatch):
    """Return the function of the guide."""
    monkeypatch.setenv("WEBHOOK_SECRET", SECRET)
    (script,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    names = {"__name__": "receiver"}
    exec(dedent(script), names)  # noqa: S102
    return names["verify"]


def test_the_receiver_of_the_guide_accepts_what_the_register_signs(verify):
    assert verify(signature(SECRET, int(time.time()), b"{}"), b"{}")


def test_it_refuses_another_body_another_secret_and_an_old_message(verify):
    now = int(time.time())
    assert not verify(signature(SECRET, now, b"{}"), b"[]")
    assert not verify(signature(new_secret(), now, b"{}"), b"{}")
    assert not verify(signature(SECRET, now - 301, b"{}"), b"{}")
    assert not verify(signature(SECRET, now, b"{}").replace(f"t={now}", f"t={now + 1}"), b"{}")


@pytest.mark.parametrize("header", ["", "t=1", "v1=", "t=x,v1=\N{SNOWMAN}", "=,=,="])
def test_it_refuses_a_header_that_is_no_signature(verify, header):
    assert not verify(header, b"{}")
