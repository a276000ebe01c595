"""The stylesheet of all pages: one response, named by its content."""

import gzip
import re

import pytest
from django.conf import settings

from webapp.stylesheet import FILES, stylesheet_address

CSS = settings.BASE_DIR / "static/css"


def test_a_page_links_one_stylesheet_with_the_rules_of_every_file(client, db):
    (address,) = re.findall(r'<link rel="stylesheet" href="([^"]*)">', client.get("/explain/").text)
    assert address == stylesheet_address()
    content = client.get(address).content.decode()
    assert [content.count((CSS / f"{name}.css").read_text()) for name in FILES] == [1] * len(FILES)


def test_every_file_is_in_the_stylesheet_or_linked_by_a_page_of_its_own():
    linked = {
        name
        for path in (settings.BASE_DIR / "webapp/templates").rglob("*.html")
        for name in re.findall(r"css/([\w-]+)\.css", path.read_text())
    }
    assert {path.stem for path in CSS.glob("*.css")} == linked | set(FILES)


def test_caches_keep_a_stylesheet_for_ever_under_its_own_hash_only(client):
    assert client.get(stylesheet_address())["Cache-Control"] == "public, max-age=31536000, immutable"
    older = client.get("/style/0123456789ab.css")
    assert (older.status_code, older["Cache-Control"]) == (200, "public, max-age=60")


def test_a_stylesheet_is_compressed_for_clients_that_accept_it(client):
    plain = client.get(stylesheet_address())
    compressed = client.get(stylesheet_address(), headers={"Accept-Encoding": "gzip"})
    assert compressed["Content-Encoding"] == "gzip"
    assert gzip.decompress(compressed.content) == plain.content
    assert len(compressed.content) < 20_000


@pytest.mark.parametrize("digest", ["x", "0123456789AB", "../settings"])
def test_other_names_are_no_stylesheets(client, db, digest):
    assert client.get(f"/style/{digest}.css").status_code == 404
