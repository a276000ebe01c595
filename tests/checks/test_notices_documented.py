"""docs/reference/notices.md against the kinds of notices, the choices and the states of mails."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from webapp.notices.kinds import Kind
from webapp.notices.models import Frequency, Mail

DOCUMENTED = re.findall(
    r"^\| `([a-z-]+)` \|", Path(settings.BASE_DIR / "docs/reference/notices.md").read_text(), re.MULTILINE
)


@pytest.mark.parametrize("codes", [Kind, Frequency, Mail.State])
def test_every_code_is_documented(codes):
    assert set(codes.values) <= set(DOCUMENTED)


def test_every_documented_code_exists():
    assert set(DOCUMENTED) <= {*Kind.values, *Frequency.values, *Mail.State.values}
