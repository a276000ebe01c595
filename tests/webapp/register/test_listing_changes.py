"""The recorded changes of listed runs, and the runs that are read again because of them."""

from uuid import UUID

import pytest
from django.db.models import F

from results.lifecycle import listing_changes
from results.lifecycle.listing_changes import ListingState, current_state, current_version, fold_changes
from results.models import ListingChange, Product, Run, Share, Visibility

ONE, TWO, THREE = (UUID(int=number) for number in (1, 2, 3))
NOTHING: frozenset[UUID] = frozenset()


def state(**changes):
    return ListingState({{"one": ONE, "two": TWO, "three": THREE}[name]: change for name, change in changes.items()})


@pytest.mark.parametrize(
    ("found", "known", "expected"),
    [
        (state(one=(5, NOTHING)), {ONE}, set()),
        (state(one=(5, NOTHING), two=(6, NOTHING)), {ONE}, {6}),
        (state(one=(None, NOTHING)), set(), None),  # many runs
        (state(one=(5, NOTHING)), {ONE, TWO}, None),  # the second was rolled back
        (state(three=(None, frozenset({ONE, TWO}))), {ONE, TWO}, set()),  # folded, all of them known
        (state(three=(None, frozenset({ONE, TWO}))), {ONE}, None),  # folded before it was known
        (state(two=(7, NOTHING), three=(None, frozenset({ONE}))), {ONE}, {7}),
    ],
)
def test_the_changed_runs_are_those_of_new_ids(found, known, expected):
    assert found.changed_since(frozenset(known)) == expected


def known_changes():
    return frozenset(current_state().changes)


@pytest.mark.django_db
def test_changes_of_runs_that_are_not_listed_are_not_recorded(make_log_run):
    run, before = make_log_run(visibility=Visibility.UNREVIEWED), known_changes()
    run.shares.all().delete()
    Run.objects.filter(pk=run.pk).update(firmware="F2")
    assert current_state().changed_since(before) == set()
    Run.objects.filter(pk=run.pk).update(visibility=Visibility.PUBLIC)
    assert current_state().changed_since(before) == {run.pk}


@pytest.mark.django_db
def test_a_statement_that_changes_very_many_runs_is_one_change(make_published_run):
    run, before = make_published_run(), known_changes()
    Run.objects.bulk_create(
        Run(product=run.product, tier=run.tier, visibility="public", statistic=run.statistic) for _ in range(1001)
    )
    assert current_state().changed_since(before) is None
    assert ListingChange.objects.count() == len(before) + 1


@pytest.mark.django_db
def test_a_product_is_a_change_of_its_runs_unless_only_its_counters_differ(make_published_run):
    run, before = make_published_run(), known_changes()
    Product.objects.update(attempts={"a": 1}, version=F("version") + 1)
    assert current_state().changed_since(before) == set()
    Product.objects.update(model="another")
    assert current_state().changed_since(before) == {run.pk}


@pytest.mark.django_db
@pytest.mark.parametrize(("most", "expected"), [(2, None), (3, set())])
def test_a_fold_of_too_many_changes_names_none(monkeypatch, most, expected):
    ListingChange.objects.all().delete()
    ListingChange.objects.bulk_create(ListingChange(run_id=number) for number in range(3))
    known = known_changes()
    monkeypatch.setattr(listing_changes, "FOLDED_FROM", 1)
    monkeypatch.setattr(listing_changes, "FOLDED_MAX", most)
    fold_changes()
    assert current_state().changed_since(known) == expected


@pytest.mark.django_db
def test_folding_keeps_what_a_process_knows(make_published_run, monkeypatch):
    run, other = make_published_run({1000: "4.00"}), make_published_run()
    monkeypatch.setattr(listing_changes, "FOLDED_FROM", ListingChange.objects.count() + 1)
    assert fold_changes() == 0
    early, version = known_changes(), current_version()
    Share.objects.filter(run=run).update(printed="5.00")
    late = known_changes()
    assert fold_changes() == len(late)
    assert ListingChange.objects.count() == 1
    assert current_version() != version
    assert current_state().changed_since(late) == set()
    assert current_state().changed_since(early) is None
    Run.objects.filter(pk=other.pk).update(firmware="F2")
    assert current_state().changed_since(late) == {other.pk}
