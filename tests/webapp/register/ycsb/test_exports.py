import pytest

from webapp.register.ycsb.exports import _text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, None), (3.0, "3"), (3.25, "3.25"), (2.0**63, "9223372036854775808")],
)
def test_a_whole_number_has_no_decimal_point_and_no_exponent(value, text):
    assert _text(value) == text
