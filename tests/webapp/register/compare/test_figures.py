from decimal import Decimal

import pytest

from webapp.register.compare.figures import Line, Value


def line(*texts, is_share=True):
    shares = [Decimal(text) if is_share and text else None for text in texts]
    values = [Value(text, share_pct=share) for text, share in zip(texts, shares, strict=True)]
    return Line("pct_over_64000us", "Over 64 ms", "%", values)


@pytest.mark.parametrize("texts", [("0.00", "0.000"), ("5.00", "5"), ("100", "100.0"), ("0.1", "")])
def test_shares_with_more_or_fewer_trailing_zeros_are_equal(texts):
    assert not line(*texts).differs


@pytest.mark.parametrize("texts", [("0.00", "0.001"), ("5.00", "4.96"), ("10", "1"), ("100", "1")])
def test_shares_with_other_digits_differ(texts):
    assert line(*texts).differs


def test_text_that_is_not_a_share_is_compared_exactly():
    assert line("6.1", "6.10", is_share=False).differs
