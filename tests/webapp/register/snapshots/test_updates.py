"""Updates of the snapshot: changed pages are purged immediately and regenerated."""

import gzip
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
import zstandard
from django.http import HttpResponse
from django.utils import timezone

from results.catalogue.claims import import_figures
from results.lifecycle import visibility
from results.lifecycle.embargo import disclose_due
from results.models import Companion, Evidence, Product, PublishedFigure, Run, Share, Submission, Visibility
from results.naming.aliases import IDENTITY
from results.products.facts import StatedPrice, add_price
from results.products.renaming import rename
from tests.results.rows import make_judged_run
from tests.webapp.register.snapshots.conftest import entry_bytes
from webapp.register.snapshots import rendering, stamps, store, updates
from webapp.register.syndication.public_addresses import page_group

# Most tests make a snapshot, 1 s of processor time.
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("few_addresses"), pytest.mark.long]


def groups_of(*slugs):
    """The groups of pages that depend on these products, of which only their own pages show other products as well."""
    return {"*", *slugs, *map(page_group, slugs)}


def test_compressed_forms_have_the_same_content(root, snapshot_of):
    plain = entry_bytes(root, "/")
    assert gzip.decompress(entry_bytes(root, "/", 1)) == plain
    assert zstandard.ZstdDecompressor().decompress(entry_bytes(root, "/", 2)) == plain


def test_a_check_of_an_unchanged_register_writes_nothing(root, snapshot_of):
    before = (root / store.CURRENT).resolve()
    made = updates.update_snapshot()
    assert (made.rendered, made.is_new) == (0, False)
    assert (root / store.CURRENT).resolve() == before


def test_a_change_regenerates_only_the_affected_pages(root, make_published_run, staff):
    gone, other = make_published_run(), make_published_run()
    updates.update_snapshot()
    visibility.withdraw(gone, staff, "A mistake in the set-up.")
    made = updates.update_snapshot()
    assert b"A mistake in the set-up." in entry_bytes(root, f"/runs/{gone.public_id}/")
    # The pages of the other product, without its own page, which counts the drives that cannot be compared with it.
    assert made.reused >= 4
    before = store.current(root).entries[f"/runs/{other.public_id}/"].rendered_at
    assert before < store.current(root).entries[f"/runs/{gone.public_id}/"].rendered_at


def test_a_withdrawal_is_purged_before_any_page_is_regenerated(root, snapshot_of, staff):
    visibility.withdraw(snapshot_of, staff, "A mistake.")
    updates.purge_outdated(root)
    assert store.purged_of(store.current_directory(root)) == groups_of(snapshot_of.product.slug)


@pytest.fixture
def two_capacities(make_product, make_published_run):
    """A run of each of one model's two capacities."""
    products = [make_product(model="EX77", slug=f"ex77-{size}", capacity_gb=size) for size in (3200, 6400)]
    return [make_published_run(product=product) for product in products]


def test_a_withdrawal_is_purged_from_the_pages_of_the_model_s_other_capacities(root, two_capacities, staff):
    updates.update_snapshot()
    visibility.withdraw(two_capacities[0], staff, "A mistake.")
    updates.purge_outdated(root)
    assert store.purged_of(store.current_directory(root)) == groups_of("ex77-3200", "ex77-6400")


def test_the_event_itself_purges_the_other_capacities(root, two_capacities, staff, django_capture_on_commit_callbacks):
    updates.update_snapshot()
    with django_capture_on_commit_callbacks(execute=True):
        visibility.withdraw(two_capacities[0], staff, "A mistake.")
    assert store.purged_of(store.current_directory(root)) == groups_of("ex77-3200", "ex77-6400")


def make_evidence(run):
    return Evidence.objects.create(
        organisation=run.submission.organisation, sha256="f" * 64, size_bytes=1, filename="stderr"
    )


def sequester_side_file(run):
    run.submission.side_file = make_evidence(run)
    run.submission.save()
    before = stamps.current_stamps()
    Evidence.objects.filter(pk=run.submission.side_file.pk).update(sequestered=True)
    return before


def sequester_companion(run):
    evidence = make_evidence(run)
    Companion.objects.create(submission=run.submission, evidence=evidence, filename="stderr")
    before = stamps.current_stamps()
    Evidence.objects.filter(pk=evidence.pk).update(sequestered=True)
    return before


def change_product(run):
    before = stamps.current_stamps()
    Product.objects.filter(pk=run.product.pk).update(endurance_dwpd=3)
    return before


def change_run(run):
    before = stamps.current_stamps()
    Run.objects.filter(pk=run.pk).update(notes="changed")
    return before


@pytest.mark.parametrize("change", [sequester_side_file, sequester_companion, change_product, change_run])
def test_a_change_without_an_event_changes_only_the_stamp_of_its_product(make_log_run, change):
    run, other = make_log_run(), make_log_run()
    before, after = change(run), stamps.current_stamps()
    assert {group for group in before if before[group] != after[group]} == groups_of(run.product.slug)
    assert other.product.slug in after


def test_a_faster_drive_changes_the_stamps_of_the_pages_that_rank_it(make_product, make_published_run):
    ranked = {"tool": "act_storage", "tool_version": "6.6"}
    here, there = make_published_run(**ranked), make_published_run(**ranked)
    elsewhere = make_published_run(product=make_product(category="cloud"), **ranked)
    before = stamps.current_stamps()
    Run.objects.filter(pk=there.pk).update(tps=900_000)
    after = stamps.current_stamps()
    changed = {group for group in before if before[group] != after[group]}
    assert changed == groups_of(there.product.slug) | {page_group(here.product.slug)}
    assert page_group(elsewhere.product.slug) in after


def test_another_reason_why_a_drive_is_left_out_changes_the_stamp_of_the_other_s_page(make_product):
    act = {"tool": "act_storage", "tool_version": "6.6"}
    here, there = make_judged_run(make_product(), 30, **act), make_judged_run(make_product(), 30, "undecided", **act)
    share = {"statistic": "worst-slice", "threshold_us": 1000}
    Share.objects.create(run=here, share_pct=1, printed="1.00", **share)
    before = stamps.current_stamps()
    Share.objects.create(run=there, share_pct=6, printed="6.00", **share)
    after = stamps.current_stamps()
    assert before[page_group(here.product.slug)] != after[page_group(here.product.slug)]


def test_a_figure_changed_in_place_changes_every_stamp(db):
    import_figures()
    before = stamps.current_stamps()
    import_figures()
    assert stamps.current_stamps() == before
    PublishedFigure.objects.filter(pk=PublishedFigure.objects.first().pk).update(value=1)
    assert stamps.current_stamps() != before


@pytest.mark.parametrize(
    "name", ["DATA_LICENCE", "OPERATOR_NAME", "OPERATOR_PLACE", "OPERATOR_CONTACT", "OPERATOR_INTERESTS"]
)
def test_a_setting_that_pages_state_changes_every_stamp(make_log_run, settings, name):
    make_log_run()
    before = stamps.current_stamps()
    setattr(settings, name, "another")
    after = stamps.current_stamps()
    assert [group for group in before if before[group] == after[group]] == []


def test_a_new_month_changes_the_stamp_of_the_pages_of_news(make_log_run, monkeypatch):
    run = make_log_run()
    last, first = datetime(2026, 11, 30, 23, 59, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)
    monkeypatch.setattr(timezone, "now", lambda: last)
    before = stamps.current_stamps()
    assert stamps.current_stamps() == before
    monkeypatch.setattr(timezone, "now", lambda: first)
    after = stamps.current_stamps()
    assert (after["*"] != before["*"], after[run.product.slug] == before[run.product.slug]) == (True, True)


def test_the_minute_of_publication_needs_no_event(root, make_published_run):
    run = make_published_run(visibility=Visibility.UNREVIEWED)
    updates.update_snapshot()
    Run.objects.filter(pk=run.pk).update(visibility=Visibility.PUBLIC)
    updates.update_snapshot()
    assert f"/runs/{run.public_id}/" in store.current(root).entries


def test_a_check_before_the_end_of_an_embargo_changes_nothing(root, make_published_run, make_embargoed_run):
    make_embargoed_run(product=make_published_run().product)
    updates.update_snapshot()
    assert not updates.update_snapshot().is_new
    assert store.purged_of(store.current_directory(root)) == set()


def test_the_end_of_an_embargo_purges_at_the_next_check_and_the_run_appears(root, ended_embargo):
    updates.purge_outdated(root)
    assert {"*", ended_embargo.product.slug} <= store.purged_of(store.current_directory(root))
    updates.update_snapshot()
    assert ended_embargo.public_id.encode() in entry_bytes(root, f"/drive/{ended_embargo.product.slug}/")
    assert f"/runs/{ended_embargo.public_id}/" in store.current(root).entries


def test_the_disclosure_purges_its_pages(root, ended_embargo, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        assert disclose_due() == 1
    assert store.purged_of(store.current_directory(root)) == groups_of(ended_embargo.product.slug)


@pytest.fixture
def ended_embargo(make_published_run, make_embargoed_run):
    """A run of a public product whose embargo has ended since the snapshot was made."""
    run = make_embargoed_run(product=make_published_run().product)
    updates.update_snapshot()
    Submission.objects.update(embargo_until=timezone.now())
    return run


def test_pages_that_are_no_longer_public_leave_the_snapshot(root, snapshot_of):
    Run.objects.filter(pk=snapshot_of.pk).update(visibility=Visibility.UNREVIEWED)
    updates.purge_outdated(root)
    assert snapshot_of.product.slug in store.purged_of(store.current_directory(root))
    updates.update_snapshot()
    assert snapshot_of.public_id not in str(list(store.current(root).entries))


def test_the_event_itself_purges_if_no_worker_runs(root, snapshot_of, staff, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        visibility.withdraw(snapshot_of, staff, "A mistake.")
    assert store.purged_of(store.current_directory(root)) == groups_of(snapshot_of.product.slug)


def test_a_rename_purges_the_pages_of_both_slugs(root, snapshot_of, staff, django_capture_on_commit_callbacks):
    product = snapshot_of.product
    identity = {name: getattr(product, name) for name in IDENTITY} | {"model": "Renamed"}
    with django_capture_on_commit_callbacks(execute=True):
        rename(product, identity, staff, "another name")
    renamed = Product.objects.get(pk=product.pk)
    assert store.purged_of(store.current_directory(root)) == groups_of(product.slug, renamed.slug)
    updates.update_snapshot()
    addresses = store.current(root).entries
    assert f"/drive/{renamed.slug}/" in addresses
    assert f"/drive/{product.slug}/" not in addresses


def test_a_list_price_regenerates_the_page(root, snapshot_of, staff):
    product = snapshot_of.product
    add_price(product, StatedPrice(Decimal(499), "USD", date(2026, 5, 1), "https://example.org/p"), staff)
    updates.update_snapshot()
    assert b"https://example.org/p" in entry_bytes(root, f"/drive/{product.slug}/")


def test_a_change_during_the_creation_of_a_version_is_purged_from_it(root, make_published_run, staff, monkeypatch):
    run = make_published_run()
    render = updates.render

    def withdraw_then_render(path):
        rendered = render(path)
        if path == f"/runs/{run.public_id}/":
            visibility.withdraw(run, staff, "A mistake.")
        return rendered

    monkeypatch.setattr(updates, "render", withdraw_then_render)
    updates.update_snapshot()
    assert {"*", run.product.slug} <= store.purged_of(store.current_directory(root))


def test_an_old_page_is_regenerated(root, snapshot_of, settings):
    settings.SNAPSHOT_AGE_MAX_S = -1
    made = updates.update_snapshot()
    assert (made.reused, made.is_new) == (0, True)


def test_another_release_regenerates_every_page(root, snapshot_of, monkeypatch):
    monkeypatch.setattr(stamps, "release", lambda: "another")
    assert updates.update_snapshot().reused == 0


def test_only_one_process_writes_at_a_time(root, snapshot_of):
    with updates.file_lock(root / updates.store.LOCK, waits=False) as is_ours:
        assert is_ours
        assert updates.update_snapshot() is None


def test_a_failing_page_is_left_out_and_the_others_are_written(root, make_published_run, monkeypatch):
    run = make_published_run()
    render = updates.render

    def refuse(path):
        if path == f"/runs/{run.public_id}/":
            raise rendering.NotPublicError("answered 500")
        return render(path)

    monkeypatch.setattr(updates, "render", refuse)
    assert updates.update_snapshot().left_out == 1
    assert "/" in store.current(root).entries


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (404, {"Cache-Control": "public"}),
        (200, {}),
        (200, {"Cache-Control": "private, no-cache"}),
        (200, {"Cache-Control": "public", "Set-Cookie": "a=b"}),
        (200, {"Cache-Control": "public", "Vary": "Accept, Cookie"}),
        (200, {"Cache-Control": "public", "X-Robots-Tag": "noindex"}),
    ],
)
def test_a_response_that_is_not_public_is_refused(monkeypatch, status, headers):
    response = HttpResponse(status=status, headers=headers)
    response.cookies.load(headers.get("Set-Cookie", ""))
    monkeypatch.setattr(rendering, "respond", lambda _: response)
    with pytest.raises(rendering.NotPublicError):
        rendering.render("/")


def test_stamps_need_as_many_queries_for_one_run_as_for_fifty(make_published_run, django_assert_num_queries):
    make_published_run()
    with django_assert_num_queries(14):
        stamps.current_stamps()
    for _ in range(49):
        make_published_run()
    with django_assert_num_queries(14):
        stamps.current_stamps()


def test_the_pages_that_link_to_the_example_are_regenerated_when_it_appears_and_leaves(make_log_run):
    make_log_run()
    found = [stamps.current_stamps()]
    example = make_log_run(public_id="demo-loop", is_demo=True, is_virtual=True, product=None)
    found.append(stamps.current_stamps())
    Run.objects.filter(pk=example.pk).update(visibility=Visibility.UNREVIEWED)
    found.append(stamps.current_stamps())
    first, shown, removed = [each.pop(stamps.EVERYTHING) for each in found]
    assert (first != shown, shown != removed) == (True, True)
    assert found[0] == found[1] == found[2]  # no page of a product depends on it
