from dataclasses import replace

import pytest

from results.errors import ReviewRefusedError
from results.ingest.queue import sweep
from results.lifecycle.review import create_product, name_product, publish
from results.models import Event, ProductAlias, Submission
from results.naming.aliases import add_alias, aliased_product, name_key, revoke_alias
from tests.results.builders import FACTS, log_bytes, make_organisation, make_user, send
from tests.results.rows import make_product, make_run

pytestmark = pytest.mark.django_db
STATED = {"category": "nvme-flash", "vendor": "EXEMPLAR", "model": "ex4  pro", "part_number": "", "capacity_gb": 960}


@pytest.fixture
def rita(db):
    return make_user("rita", is_reviewer=True)


@pytest.fixture
def product(db):
    return make_product(model="EX4 Professional", capacity_gb=960)


def test_a_later_submission_with_a_named_name_gets_its_product(evidence_dir, stand_in, rita, product):
    make_run(product)  # public, so that other organisations may match it
    first = send(make_organisation(), log_bytes("four-us"))
    sweep()
    name_product(first, product, rita)
    other = replace(FACTS, vendor=" exemplar", model="Ex4")  # differs in case and blanks only
    later = send(make_organisation("other"), log_bytes("four-us"), facts=other)
    sweep()
    assert Submission.objects.get(pk=later.pk).product == product


def test_a_name_does_not_reveal_a_product_that_is_not_public(evidence_dir, stand_in, rita, product):
    first = send(make_organisation(), log_bytes("four-us"))
    sweep()
    name_product(first, product, rita)
    later = send(make_organisation("other"), log_bytes("four-us"))
    sweep()
    assert Submission.objects.get(pk=later.pk).product is None


def test_the_own_name_of_a_product_is_no_alias(evidence_dir, stand_in, rita):
    submission = send(make_organisation(), log_bytes("four-us"))
    sweep()
    create_product(submission, rita)
    publish(submission, rita)
    assert not ProductAlias.objects.exists()


def test_a_newer_decision_replaces_an_older_one_and_both_are_recorded(rita, product):
    other = make_product()
    add_alias(STATED, product, rita)
    add_alias(STATED, other, rita)
    add_alias(STATED, other, rita)  # again: no change
    assert aliased_product(STATED) == other
    assert [event.kind for event in Event.objects.all()] == ["alias-added", "alias-revoked", "alias-added"]
    assert Event.objects.first().actor == rita


def test_a_revoked_alias_no_longer_applies_and_cannot_be_revoked_again(rita, product):
    add_alias(STATED, product, rita)
    alias = ProductAlias.objects.get()
    with pytest.raises(ReviewRefusedError, match="A reason is needed"):
        revoke_alias(alias, rita, " ")
    revoke_alias(alias, rita, "another drive")
    assert aliased_product(STATED) is None
    with pytest.raises(ReviewRefusedError, match="revoked already"):
        revoke_alias(alias, rita, "again")


def test_a_capacity_alone_is_no_name(rita, product):
    add_alias({**STATED, "vendor": "", "model": ""}, product, rita)
    assert not ProductAlias.objects.exists()


@pytest.mark.parametrize(("name", "value"), [("capacity_gb", 961), ("model", "ex4pro"), ("category", "cloud")])
def test_only_case_and_white_space_are_ignored(name, value):
    assert name_key(STATED) == name_key({**STATED, "vendor": "Exemplar ", "model": "EX4 Pro"})
    assert name_key(STATED) != name_key({**STATED, name: value})
