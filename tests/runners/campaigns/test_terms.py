from decimal import Decimal

from runners.campaigns.terms import Terms, parse_terms


def test_terms_survive_json_with_every_digit():
    terms = Terms(max_nx=Decimal("466.670"), ladder_factor=Decimal("1.25"), with_prep=False)
    stored = terms.as_json()
    assert stored["max_nx"] == "466.670"
    assert parse_terms(stored) == terms


def test_a_term_that_was_not_stored_takes_its_default():
    assert parse_terms({"max_nx": "4"}) == Terms(max_nx=Decimal(4))
