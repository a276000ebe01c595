"""Responses from the snapshot: equal to those of the site, and only as long as they are current."""

import gzip

import pytest
import zstandard
from django.db import connections

from results.lifecycle import visibility
from webapp.health import OK
from webapp.register.snapshots import database_down, rendering, serving, store, updates
from webapp.register.syndication.public_addresses import EVERYTHING

# Most tests make a snapshot, 1 s of processor time.
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("few_addresses"), pytest.mark.long]
SECURITY = ("content-security-policy", "x-content-type-options", "referrer-policy", "x-frame-options")


def test_a_page_has_the_headers_of_the_live_page(site, live, snapshot_of):
    path = f"/drive/{snapshot_of.product.slug}/"
    answer, expected = site.get(path), live(path)
    assert answer.is_from_snapshot
    assert (answer.status, answer.content) == (200, expected.content)
    for name in ("content-type", "cache-control", "etag", *SECURITY):
        assert answer.headers[name] == expected[name], name
    assert answer.headers["content-length"] == str(len(expected.content))


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("gzip, deflate, br", "gzip"),
        ("gzip, br, zstd", "zstd"),
        ("GZIP", "gzip"),
        ("zstd;q=0, gzip;q=0.5", "gzip"),
        ("gzip;q=0", ""),
        ("br", ""),
        ("", ""),
    ],
)
def test_a_page_is_sent_in_the_requested_encoding(site, live, snapshot_of, accepted, coding):
    answer = site.get("/", HTTP_ACCEPT_ENCODING=accepted)
    unpack = {"gzip": gzip.decompress, "zstd": zstandard.ZstdDecompressor().decompress, "": bytes}[coding]
    assert answer.headers.get("content-encoding", "") == coding
    assert answer.headers["vary"] == "Accept-Encoding"
    assert answer.headers["content-length"] == str(len(answer.content))
    assert unpack(answer.content) == live("/").content


def test_two_encodings_have_two_etags_and_each_is_recognised(site, snapshot_of):
    tags = [site.get("/", HTTP_ACCEPT_ENCODING=accepted).headers["etag"] for accepted in ("", "gzip", "zstd")]
    assert len(set(tags)) == 3
    for tag in (tags[1], f"W/{tags[1]}", f'"other", {tags[1]}', "*"):
        answer = site.get("/", HTTP_ACCEPT_ENCODING="gzip", HTTP_IF_NONE_MATCH=tag)
        assert (answer.status, answer.content, answer.headers["etag"]) == (304, b"", tags[1])
        assert "content-type" not in answer.headers
    assert site.get("/", HTTP_IF_NONE_MATCH=tags[1]).status == 200


def test_head_has_the_headers_of_get_and_no_content(site, snapshot_of):
    got, head = site.get("/"), site.get("/", method="HEAD")
    assert (head.status, head.content, head.headers) == (200, b"", got.headers)


def test_tracking_parameters_do_not_make_another_page(site, snapshot_of):
    assert site.get("/?utm_source=mail&fbclid=x").is_from_snapshot
    assert not site.get("/?colour=red").is_from_snapshot


def test_django_answers_post_requests(site, snapshot_of):
    answer = site.get("/", method="POST")
    assert answer.status in {403, 405}
    assert not answer.is_from_snapshot


@pytest.mark.parametrize("path", ["/?sort=tps", "/drives/nvme-flash/?sort=tps", "/?", "/lab/", "/nowhere/"])
def test_django_answers_pages_outside_the_snapshot(site, live, snapshot_of, path):
    answer = site.get(path)
    assert answer.status == live(path).status_code
    assert answer.is_from_snapshot == (path == "/?")


@pytest.mark.parametrize("path", ["/../index.json", "/000001", "//", "/./", "/..%2findex.json", "/\x00", "/drive/../"])
def test_a_path_is_never_used_as_a_file_path(site, snapshot_of, path):
    answer = site.get(path)
    assert answer.status == 404
    assert not answer.is_from_snapshot


def test_django_refuses_an_unknown_host(site, snapshot_of):
    assert site.get("/", HTTP_HOST="evil.example").status == 400
    assert site.get("/", HTTP_HOST="localhost:8000").is_from_snapshot


def test_http_is_redirected_to_https_if_the_setting_requires_it(site, snapshot_of, settings):
    settings.SECURE_SSL_REDIRECT = True
    assert site.get("/").is_from_snapshot
    assert not site.get("/", **{"wsgi.url_scheme": "http"}).is_from_snapshot
    settings.BEHIND_TLS_PROXY = True
    assert site.get("/", **{"wsgi.url_scheme": "http"}).is_from_snapshot  # the proxy's header says https


def test_the_host_of_files_gets_no_page_of_the_snapshot(site, snapshot_of, settings):
    settings.EVIDENCE_ORIGIN = "https://files.example.org"
    settings.ALLOWED_HOSTS = ["*", "files.example.org"]
    assert site.get("/").is_from_snapshot
    answer = site.get("/", HTTP_HOST="files.example.org")
    assert (answer.status, answer.is_from_snapshot) == (404, False)
    assert rendering.render("/")[1][0]


def test_a_purged_page_is_answered_live_from_the_next_request_on(site, root, snapshot_of, staff):
    path = f"/runs/{snapshot_of.public_id}/"
    assert site.get(path).is_from_snapshot
    visibility.withdraw(snapshot_of, staff, "A mistake in the set-up.")
    updates.purge_outdated(root)
    answer = site.get(path)
    assert not answer.is_from_snapshot
    assert b"A mistake in the set-up." in answer.content
    updates.update_snapshot()
    answer = site.get(path)
    assert answer.is_from_snapshot
    assert b"A mistake in the set-up." in answer.content


def test_the_snapshot_is_used_from_the_first_request_on(root, snapshot_of, monkeypatch):
    monkeypatch.setattr(serving, "POLL_S", 3600)
    assert serving.CurrentSnapshot(root).poll().snapshot == store.current(root)


def test_a_snapshot_that_is_no_longer_checked_is_not_used(site, snapshot_of, make_old, staff):
    make_old()
    visibility.withdraw(snapshot_of, staff, "A mistake in the set-up.")
    answer = site.get(f"/runs/{snapshot_of.public_id}/")
    assert not answer.is_from_snapshot
    assert b"A mistake in the set-up." in answer.content


def test_pages_with_parameters_name_the_snapshot_without_a_database(site, snapshot_of, make_old, database_away):
    make_old()
    date = store.current(site.application.current.root).moment
    answer = site.get("/drives/nvme-flash/?sort=tps")
    assert (answer.status, answer.headers["retry-after"]) == (503, "30")
    assert f"{date:%-d %B %Y, %H:%M} UTC" in answer.content.decode()
    assert answer.headers["cache-control"] == "no-store"


def test_a_purged_page_is_not_served_without_a_database(site, root, snapshot_of, make_old, database_away):
    store.purge(store.current_directory(root), [snapshot_of.product.slug])
    make_old()
    assert site.get(f"/runs/{snapshot_of.public_id}/").status == 503
    assert site.get("/").status == 200


def test_the_api_reports_a_missing_database_in_its_own_format(site, snapshot_of, database_away):
    answer = site.get("/api/v1/runs/")
    assert (answer.status, answer.headers["content-type"]) == (503, "application/problem+json")
    assert b"snapshot of" in answer.content


def test_django_answers_everything_without_a_snapshot(site, db):
    answer = site.get("/")
    assert (answer.status, answer.is_from_snapshot) == (200, False)


def test_a_failed_query_is_not_reported_as_a_missing_database(site, snapshot_of, database_away, monkeypatch):
    monkeypatch.setattr(database_down, "ask_database", lambda: OK)
    assert site.get("/drives/nvme-flash/?sort=tps").status == 500


def test_a_lost_connection_is_reported_even_if_the_database_answers_again(
    site, snapshot_of, database_away, monkeypatch
):
    monkeypatch.setattr(database_down, "ask_database", lambda: OK)
    monkeypatch.setattr(database_down, "is_disconnected", lambda _: True)
    assert site.get("/drives/nvme-flash/?sort=tps").status == 503


def test_a_failed_connect_and_a_broken_connection_are_both_lost(db):
    own = connections.create_connection("default")
    assert database_down.is_disconnected(own)
    own.ensure_connection()
    assert not database_down.is_disconnected(own)
    own.connection.close()
    assert database_down.is_disconnected(own)


FILTERED = "/drives/nvme-flash/?sort=tps"


def test_a_response_that_depends_on_the_encoding_or_has_a_long_address_is_not_stored(site, monkeypatch, snapshot_of):
    monkeypatch.setattr(serving, "ADDRESS_AT_MOST", len(FILTERED) - 1)
    view = site.application.current.poll()
    view.snapshot.entries["/drives/rows.json"] = view.snapshot.entries["/"]
    packed = site.get("/drives/rows.json?&", HTTP_ACCEPT_ENCODING="gzip")
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in site.get("/drives/rows.json?&").headers
    site.get(FILTERED)
    site.get(FILTERED)
    assert len(site.reached_django) == 4


def test_a_page_with_parameters_is_rendered_once_for_each_version_of_the_snapshot(site, snapshot_of, staff):
    first, second = site.get(FILTERED), site.get(FILTERED)
    assert site.reached_django == [FILTERED]
    assert (second.status, second.headers, second.content) == (200, first.headers, first.content)
    visibility.withdraw(snapshot_of, staff, "A mistake in the set-up.")
    updates.update_snapshot()
    site.get(FILTERED)
    site.get(FILTERED)
    assert site.reached_django == [FILTERED] * 2


def test_a_rendered_page_is_compressed_for_each_client_as_it_accepts_it(site, live, snapshot_of):
    unpack = {"gzip": gzip.decompress, "zstd": zstandard.ZstdDecompressor().decompress, "": bytes}
    expected, tags = live(FILTERED).content, []
    for _ in range(2):  # rendered, then stored
        for coding, content_of in unpack.items():
            answer = site.get(FILTERED, HTTP_ACCEPT_ENCODING=coding)
            assert content_of(answer.content) == expected
            assert answer.headers.get("content-encoding", "") == coding
            assert (answer.headers["vary"], answer.headers["content-length"]) == (
                "Accept-Encoding",
                str(len(answer.content)),
            )
            tags.append(answer.headers["etag"])
    assert site.reached_django == [FILTERED] * 3
    assert tags[:3] == tags[3:]
    assert len(set(tags)) == 3
    assert site.get(FILTERED, HTTP_ACCEPT_ENCODING="gzip", HTTP_IF_NONE_MATCH=tags[0]).status == 304


def test_a_rendered_page_that_compression_does_not_shorten_is_sent_as_it_is(site, snapshot_of):
    def make_short(response):
        response.content = b"x" * (rendering.COMPRESSED_FROM_BYTES - 1)

    site.change_response = make_short
    answer = site.get(FILTERED, HTTP_ACCEPT_ENCODING="gzip")
    assert {"content-encoding", "vary"}.isdisjoint(answer.headers)
    assert answer.headers["content-length"] == str(rendering.COMPRESSED_FROM_BYTES - 1)


NOT_FOR_EVERY_CLIENT = {
    "private": lambda response: response.headers.__setitem__("Cache-Control", "private, no-cache"),
    "not to be stored": lambda response: response.headers.__setitem__("Cache-Control", "no-store"),
    "unlisted": lambda response: response.headers.__setitem__("X-Robots-Tag", "noindex"),
    "by cookie": lambda response: response.headers.__setitem__("Vary", "Cookie"),
    "by language": lambda response: response.headers.__setitem__("Vary", "Accept-Language"),
    "by anything": lambda response: response.headers.__setitem__("Vary", "*"),
    "with a cookie": lambda response: response.set_cookie("sessionid", "x"),
    "with a header that sets a cookie": lambda response: response.headers.__setitem__("Set-Cookie", "sessionid=x"),
}


def test_a_response_that_is_not_the_same_for_every_client_is_not_stored(site, snapshot_of):
    for kind, change_response in NOT_FOR_EVERY_CLIENT.items():
        site.reached_django.clear()
        site.change_response = change_response
        site.get(FILTERED)
        site.get(FILTERED)
        assert len(site.reached_django) == 2, kind


def test_a_response_that_was_rendered_during_a_change_is_not_sent_after_it(site, snapshot_of, staff):
    def change_register(_response):
        site.change_response = None
        visibility.withdraw(snapshot_of, staff, "A mistake in the set-up.")
        updates.update_snapshot()

    site.change_response = change_register
    before = site.get(FILTERED)
    after = site.get(FILTERED)
    assert site.reached_django == [FILTERED] * 2
    assert before.content != after.content


def test_any_change_of_the_register_ends_the_use_of_stored_responses(site, root, snapshot_of):
    """The page of a drive with limits of its reader compares other drives than the page without parameters."""
    address = f"/drive/{snapshot_of.product.slug}/?limit_1ms=9"
    site.get(address)
    store.purge(store.current_directory(root), [EVERYTHING])
    assert site.get(f"/drive/{snapshot_of.product.slug}/").is_from_snapshot
    assert site.get(address).status == 200
    assert site.reached_django == [address] * 2


def test_a_page_with_parameters_is_rendered_again_as_soon_as_it_is_purged(site, root, snapshot_of):
    site.get(FILTERED)
    store.purge(store.current_directory(root), [EVERYTHING])
    site.get(FILTERED)
    site.get(FILTERED)
    assert site.reached_django == [FILTERED] * 3


def test_a_page_with_parameters_is_rendered_again_if_no_worker_compares_the_snapshot(site, snapshot_of, make_old):
    site.get(FILTERED)
    make_old()
    site.get(FILTERED)
    assert site.reached_django == [FILTERED] * 2


def test_a_rendered_page_with_parameters_answers_head_and_conditional_requests(site, snapshot_of):
    got = site.get(FILTERED)
    head = site.get(FILTERED, method="HEAD")
    known = site.get(FILTERED, HTTP_IF_NONE_MATCH=got.headers["etag"])
    assert (head.status, head.headers, head.content) == (200, got.headers, b"")
    assert (bool(got.request_id), head.request_id) == (True, ""), "a stored page has the id of no request"
    assert (known.status, known.content) == (304, b"")
    assert site.reached_django == [FILTERED]


def test_only_whole_public_pages_are_sent_again(site, live, snapshot_of):
    refused, elsewhere = "/drives/nvme-flash/?colour=red", "/nowhere/?sort=tps"
    etag = live(FILTERED)["etag"]
    assert site.get(FILTERED, method="HEAD").status == 200
    assert site.get(FILTERED, HTTP_IF_NONE_MATCH=etag).status == 304
    assert site.get(FILTERED).content
    for _ in range(2):
        assert site.get(refused).status == 400
        assert site.get(elsewhere).status == 404
        assert site.get(FILTERED, HTTP_HOST="evil.example").status == 400
        assert site.get(FILTERED, method="POST").status in {403, 405}
    assert site.reached_django == [*[FILTERED] * 3, *[refused, elsewhere, FILTERED, FILTERED] * 2]


@pytest.mark.parametrize("short_by", [0, 1])
def test_bytes_once_read_stay_in_memory_while_there_is_room(site, root, snapshot_of, short_by):
    snapshot = site.application.current.poll().snapshot
    entry = snapshot.entries["/"]
    snapshot.forms.room_bytes = entry.sizes[0] - short_by
    first = site.get("/")
    (snapshot.directory / entry.file).unlink()
    second = site.get("/")
    assert second.is_from_snapshot == (short_by == 0)
    assert first.content == second.content
    assert snapshot.forms.room_bytes == (entry.sizes[0] - 1 if short_by else 0)


def test_a_page_whose_file_is_missing_is_answered_live(site, root, snapshot_of):
    snapshot = store.current(root)
    (snapshot.directory / snapshot.entries["/"].file).unlink()
    answer = site.get("/")
    assert (answer.status, answer.is_from_snapshot) == (200, False)


def test_snapshots_are_made_with_the_address_of_the_site(live, snapshot_of):
    _, (content, *_) = rendering.render("/")
    assert content == live("/").content
