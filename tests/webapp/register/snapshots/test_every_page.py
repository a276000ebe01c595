"""The contents of the snapshot: every public page, the same for every visitor, and no other page."""

import pytest

from results.models import Product, Visibility
from tests.register import sitemap_paths
from tests.webapp.register.snapshots.conftest import entry_bytes
from webapp.register.snapshots import store, updates
from webapp.register.syndication import public_addresses as addresses
from webapp.register.syndication.public_addresses import public_addresses

# Most tests make a snapshot, 1 s of processor time.
pytestmark = [pytest.mark.django_db, pytest.mark.long]


def content_of(answer):
    return b"".join(answer)  # files are sent in pieces


def test_the_snapshot_has_every_public_address_with_the_bytes_of_the_live_page(
    root, live, make_log_run, make_published_run
):
    make_published_run()
    make_log_run()
    made = updates.update_snapshot()
    paths = {address.path for address in public_addresses()}
    assert set(store.current(root).entries) == paths
    assert (made.rendered, made.left_out) == (len(paths), 0)
    for path in paths:
        assert entry_bytes(root, path) == content_of(live(path)), path


def test_a_signed_in_user_gets_the_same_page(root, staff_client, make_log_run):
    make_log_run()
    updates.update_snapshot()
    for path in store.current(root).entries:
        assert entry_bytes(root, path) == content_of(staff_client.get(path)), path


def test_the_snapshot_has_only_public_data(root, make_published_run, make_log_run, make_embargoed_run):
    hidden, virtual = make_log_run(visibility=Visibility.UNREVIEWED), make_log_run(is_virtual=True)
    embargoed = make_embargoed_run()
    make_published_run()
    updates.update_snapshot()
    directory = store.current(root).directory
    written = b"".join(path.read_bytes() for path in directory.iterdir())
    for run in (hidden, virtual, embargoed):
        assert run.public_id.encode() not in written
        assert run.product.slug.encode() + b"/" not in written


def test_the_snapshot_of_a_large_register_has_every_part_of_the_sitemap(root, make_published_run, monkeypatch):
    monkeypatch.setattr(addresses, "PAGES_A_PART", 10)
    run = make_published_run()
    updates.update_snapshot()
    pages = sitemap_paths(lambda path: entry_bytes(root, path))
    assert f"/runs/{run.public_id}/" in pages
    assert entry_bytes(root, "/sitemap.xml").count(b"<loc>") == len(range(0, len(pages), 10)) > 1


def test_an_empty_register_has_a_snapshot_too(root, db):
    assert not Product.objects.exists()
    updates.update_snapshot()
    assert "/sitemap.xml" in store.current(root).entries


def test_an_old_snapshot_is_served_without_a_database(site, root, snapshot_of, make_old, database_away):
    make_old()
    for path in store.current(root).entries:
        answer = site.get(path)
        assert answer.status == 200, path
        assert answer.is_from_snapshot or path == "/robots.txt", path  # which needs no database
