from decimal import Decimal

from runners.campaigns.terms import Terms, terms_of


def test_terms_survive_json_with_every_digit():
    terms = Terms(max_nx=Decimal("466.670"), ladder_factor=Decimal("1.25"), with_prep=False)
    kept = terms.as_json()
    assert kept["max_nx"] == "466.670"
    assert terms_of(kept) == terms


def test_a_term_that_was_not_kept_takes_its_default():
    assert terms_of({"max_nx": "4"}) == Terms(max_nx=Decimal(4))
