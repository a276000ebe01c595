import threading

import pytest
from django.db import connection, transaction

from results.catalogue.importer import import_catalogue
from results.certification.certificates import refresh_certificates
from results.errors import ReviewRefusedError
from results.history import for_everyone
from results.ingest.queue import sweep
from results.models import Certificate, Event, Product, ProductMove, Run, Submission
from results.naming.addresses import locked_for_runs, product_by_former_slug
from results.products.facts import change_facts
from results.products.moves import merge, revert, split
from tests.results.builders import log_bytes, make_organisation, send, wait_for
from tests.results.rows import make_judged_run, make_product, make_run, prepare

pytestmark = pytest.mark.django_db


@pytest.fixture
def target(db):
    return make_product(model="EX4 P", capacity_gb=960)


def certified(product):
    runs = make_judged_run(product, 30), make_judged_run(product, 60, "fail")
    for run in runs:
        prepare(run)
    with transaction.atomic():
        refresh_certificates([product.pk])
    return product.certificates.get(), runs


def test_a_merge_moves_runs_and_certificates_and_its_slug_redirects(product, target, rita):
    certificate, runs = certified(product)
    merge(product, target, rita, "the same drive")
    assert set(target.runs.all()) == set(runs)
    assert not product.runs.exists()
    certificate.refresh_from_db()
    assert (certificate.product, certificate.state) == (target, "standing")
    assert Certificate.objects.count() == 1
    assert product_by_former_slug(product.slug) == target
    of_merge = Event.objects.filter(kind__startswith="product-")
    assert [(event.kind, event.subject_id) for event in of_merge] == [
        ("product-merged", product.slug), ("product-joined", target.slug),
    ]  # fmt: skip


def test_a_reverted_merge_moves_back_what_it_moved_and_nothing_else(product, target, rita):
    certificate, runs = certified(product)
    stays = make_run(target)
    move = merge(product, target, rita, "the same drive")
    revert(move, rita, "it is another drive")
    assert (set(product.runs.all()), list(target.runs.all())) == (set(runs), [stays])
    certificate.refresh_from_db()
    assert (certificate.product, certificate.state) == (product, "standing")
    assert product_by_former_slug(product.slug) is None
    with pytest.raises(ReviewRefusedError, match="reverted already"):
        revert(move, rita, "again")


def test_a_submission_that_states_the_name_of_a_merged_product_gets_the_other(evidence_dir, stand_in, target, rita):
    named = make_product(slug="ex4", model="EX4", part_number="EX4-3T2", capacity_gb=3200)
    make_run(target)
    merge(named, target, rita, "the same drive")
    submission = send(make_organisation(), log_bytes("four-us"))
    sweep()
    assert Submission.objects.get(pk=submission.pk).product == target
    assert submission.runs.get().product == target


def test_an_import_finds_the_product_that_another_was_merged_into(rita):
    import_catalogue()
    first, second = Product.objects.filter(category="nvme-flash", historical=False).order_by("pk")[:2]
    merge(first, second, rita, "the same drive")
    facts = second.endurance_dwpd, second.pcie_gen
    assert import_catalogue().added == []
    after = Product.objects.get(pk=second.pk)
    assert (after.endurance_dwpd, after.pcie_gen) == facts
    assert not Event.objects.filter(kind="run-changed").exists()


def test_two_merges_in_a_row_lead_to_the_last_product(product, target, rita):
    last = make_product()
    merge(product, target, rita, "same")
    merge(target, last, rita, "same")
    assert product_by_former_slug(product.slug) == last
    with pytest.raises(ReviewRefusedError, match="was merged into"):
        merge(product, last, rita, "again")
    with pytest.raises(ReviewRefusedError, match="was merged into"):
        revert(ProductMove.objects.get(source=product), rita, "out of order")
    assert Product.objects.get(pk=product.pk).merged_into == target
    with pytest.raises(ReviewRefusedError, match="was merged into"):
        change_facts(product, {"pcie_gen": "5"}, rita, "data sheet")


@pytest.mark.parametrize("other", ["same", "cloud"])
def test_a_merge_with_itself_or_another_category_is_refused(product, rita, other):
    target = product if other == "same" else make_product(category="cloud", capacity_gb=None)
    with pytest.raises(ReviewRefusedError, match="Expected two"):
        merge(product, target, rita, "same")
    assert not ProductMove.objects.exists()


def test_a_split_moves_the_chosen_runs_and_ends_the_certificate_that_needs_them(product, target, rita):
    certificate, (load, stress) = certified(product)
    move = split(product, [load.public_id], target, rita, "another controller")
    assert (list(target.runs.all()), list(product.runs.all())) == ([load], [stress])
    certificate.refresh_from_db()
    assert (certificate.product, certificate.state) == (product, "withdrawn")
    revert(move, rita, "the same controller")
    certificate.refresh_from_db()
    assert certificate.state == "standing"


def test_a_split_of_all_runs_of_a_certificate_takes_it_along(product, target, rita):
    certificate, runs = certified(product)
    split(product, [run.public_id for run in runs], target, rita, "another drive")
    certificate.refresh_from_db()
    assert (certificate.product, certificate.state) == (target, "standing")


def test_a_split_moves_a_submission_if_no_run_of_it_stays(evidence_dir, stand_in, product, target, rita):
    submission = send(make_organisation(), log_bytes("four-us"))
    sweep()
    Submission.objects.update(product=product)
    Run.objects.update(product=product)
    stays = make_run(product, submission=submission)
    moved = submission.runs.exclude(pk=stays.pk).get()
    split(product, [moved.public_id], target, rita, "another drive")
    assert Submission.objects.get(pk=submission.pk).product == product
    split(product, [stays.public_id], target, rita, "another drive, too")
    assert Submission.objects.get(pk=submission.pk).product == target


def test_a_split_of_foreign_runs_is_refused(product, target, rita):
    foreign = make_run(target)
    make_run(product)
    with pytest.raises(ReviewRefusedError, match=foreign.public_id):
        split(product, [foreign.public_id], target, rita, "mistake")
    with pytest.raises(ReviewRefusedError, match="found others: none"):
        split(product, [], target, rita, "mistake")


def test_the_public_event_names_only_public_runs(product, target, rita):
    public, hidden = make_run(product), make_run(product, visibility="unreviewed")
    split(product, [public.public_id, hidden.public_id], target, rita, "another drive")
    event = Event.objects.get(kind="product-split")
    assert event.details["runs"] == [public.public_id]
    assert ProductMove.objects.get().runs == [public.public_id, hidden.public_id]
    other = make_run(target, visibility="unreviewed")
    split(target, [other.public_id], make_product(), rita, "another drive")
    assert "product-received" in for_everyone(Event.objects.all()).values_list("kind", flat=True)
    assert for_everyone(Event.objects.filter(kind="product-split")).count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_merge_waits_for_a_reading_and_takes_its_runs_along(product, target, rita):
    def merge_them():
        merge(product, target, rita, "the same drive")
        connection.close()

    thread = threading.Thread(target=merge_them)
    with transaction.atomic():
        reading = locked_for_runs(product)
        thread.start()
        wait_for(is_another_session_waiting)
        run = make_run(reading)
    thread.join(120)
    run.refresh_from_db()
    assert run.product == target


def is_another_session_waiting():
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return cursor.fetchone()[0]
