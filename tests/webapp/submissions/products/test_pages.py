import pytest
from django.db import connection

from results.models import Event, ListPrice, Product, ProductAlias, ProductMove, Run
from results.naming.aliases import add_alias
from tests.database import rows_read
from tests.results.rows import make_product, make_run
from webapp.register.syndication.citations import product_id

pytestmark = pytest.mark.django_db
NAME = {"category": "nvme-flash", "vendor": "Exemplar", "model": "EX5", "capacity_gb": 960}
PRICE = {"amount": "499.00", "currency": "USD", "stated_on": "2026-05-01", "source_url": "https://example.org/p"}


@pytest.fixture
def product(db):
    product = make_product(slug="exemplar-ex4-960gb", capacity_gb=960)
    make_run(product)
    return product


def act(client, name, slug="exemplar-ex4-960gb", **fields):
    return client.post(f"/review/products/{slug}/{name}/", fields, follow=True)


@pytest.mark.parametrize("path", ["", "exemplar-ex4-960gb/", "exemplar-ex4-960gb/facts/"])
def test_only_reviewers_see_or_change_products(client, as_user, vera, product, path):
    method = "post" if path.endswith("facts/") else "get"
    assert getattr(client, method)(f"/review/products/{path}").status_code == 302
    assert getattr(as_user(vera), method)(f"/review/products/{path}").status_code == 403
    assert not Event.objects.exists()


def test_the_list_finds_products_by_words(as_user, rita, product):
    make_product(vendor="Other", model="OX1")
    client = as_user(rita)
    assert "Other OX1" in client.get("/review/products/").text
    found = client.get("/review/products/?q=ex4+exemplar").text
    assert "Exemplar EX4" in found
    assert "Other OX1" not in found


def test_the_list_counts_runs_of_its_page_alone(as_user, rita, product):
    client = as_user(rita)
    for number in range(60):
        other = make_product(vendor="Zeta", model=f"Z{number:02}")
        for _ in range(number % 3):
            make_run(other)
    page = client.get("/review/products/").text
    assert '<td class="n">1</td>' in page.partition("Exemplar EX4")[2].partition("</tr>")[0]
    for model, count in (("Z00", 0), ("Z01", 1), ("Z02", 2)):
        assert f'<td class="n">{count}</td>' in page.partition(f"Zeta {model}")[2].partition("</tr>")[0]
    last = Product.objects.order_by("-model").first()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # otherwise the plan depends on when the server last did it
    few = rows_read(lambda: client.get("/review/products/"))
    for _ in range(300):
        make_run(last)
    assert rows_read(lambda: client.get("/review/products/")) <= few


def test_a_reviewer_changes_facts_and_the_public_page_shows_them(client, as_user, rita, product):
    fields = {"endurance_dwpd": "3", "form_factor": "E3.S", "part_numbers": "A1\n\nA2\nA1", "version": 0}
    page = act(as_user(rita), "facts", **fields, reason="data sheet of March")
    assert "The facts are changed." in page.text
    assert Product.objects.get().part_numbers == ["A1", "A2"]
    public = client.get("/drive/exemplar-ex4-960gb/").text
    assert "E3.S" in public
    assert "data sheet of March" in public


def test_a_page_that_is_out_of_date_overwrites_nothing(as_user, rita, product):
    client = as_user(rita)
    act(client, "facts", pcie_gen="4", version=0, reason="data sheet")
    refused = act(client, "facts", pcie_gen="5", version=0, reason="data sheet")
    assert "was changed after you read it" in refused.text
    assert Product.objects.get().pcie_gen == "4"


def test_a_reviewer_renames_a_product_and_its_former_addresses_redirect(client, as_user, rita, product):
    page = act(as_user(rita), "rename", **NAME, version=0, reason="the maker renamed it")
    assert page.redirect_chain[-1][0] == "/review/products/exemplar-ex5-960gb/"
    for path in ("", "feed.atom", "badge.svg", "picture.png", "?format=csv"):
        moved = client.get(f"/drive/exemplar-ex4-960gb/{path}")
        assert (moved.status_code, moved.headers["Location"]) == (301, f"/drive/exemplar-ex5-960gb/{path}")
    assert "the maker renamed it" in client.get("/drive/exemplar-ex5-960gb/").text
    other = make_run(make_product(slug="other")).product
    compared = client.get(f"/compare/?drive=exemplar-ex4-960gb&drive={other.slug}")
    assert compared.headers["Location"].startswith("?drive=exemplar-ex5-960gb&drive=other")


def test_the_short_id_of_a_former_slug_leads_to_the_product(client, as_user, rita, product):
    act(as_user(rita), "rename", **NAME, version=0, reason="renamed")
    for slug in ("exemplar-ex4-960gb", "exemplar-ex5-960gb"):
        assert client.get(f"/id/{product_id(slug)}").headers["Location"] == "/drive/exemplar-ex5-960gb/"


def test_a_reviewer_enters_and_removes_a_list_price(client, as_user, rita, product):
    reviewer = as_user(rita)
    assert "The list price is entered." in act(reviewer, "price", **PRICE, version=0).text
    assert "https://example.org/p" in client.get("/drive/exemplar-ex4-960gb/").text
    act(reviewer, "remove-price", price=ListPrice.objects.get().pk, reason="of another drive")
    assert "https://example.org/p" not in client.get("/drive/exemplar-ex4-960gb/").text.split('id="history"')[0]


def test_a_reviewer_revokes_an_alias(as_user, rita, product):
    add_alias(NAME | {"part_number": ""}, product, rita)
    reviewer = as_user(rita)
    assert "Exemplar EX5 960 GB" in reviewer.get("/review/products/exemplar-ex4-960gb/").text
    act(reviewer, "revoke-alias", alias=ProductAlias.objects.get().pk, reason="another drive")
    assert ProductAlias.objects.get().revoked_at is not None


def test_a_reviewer_merges_products_and_reverts_it(client, as_user, rita, product):
    reviewer, target = as_user(rita), make_product(slug="ex5")
    act(reviewer, "merge", target="ex5", reason="the same drive")
    assert client.get("/drive/exemplar-ex4-960gb/").headers["Location"] == "/drive/ex5/"
    assert "the same drive" in client.get("/news/").text
    act(reviewer, "revert", slug="ex5", move=ProductMove.objects.get().pk, reason="two drives")
    assert client.get("/drive/exemplar-ex4-960gb/").status_code == 200
    assert client.get("/drive/ex5/").status_code == 404
    assert not target.runs.exists()


def test_a_reviewer_splits_runs_into_a_new_product(client, as_user, rita, product):
    moved = make_run(product)
    page = act(as_user(rita), "split", run=moved.public_id, reason="another controller", **NAME)
    assert "moved to /drive/exemplar-ex5-960gb/" in page.text
    assert Run.objects.get(pk=moved.pk).product.slug == "exemplar-ex5-960gb"
    assert client.get("/drive/exemplar-ex5-960gb/").status_code == 200


@pytest.mark.parametrize(("name", "fields", "words"), [
    ("facts", {"version": 0}, "Enter a reason"),
    ("merge", {"target": "unknown", "reason": "x"}, "There is no product unknown"),
    ("split", {"reason": "x"}, "No run was chosen"),
    ("price", PRICE | {"version": 0, "stated_on": "2999-01-01"}, "not after"),
    ("price", PRICE | {"version": 0, "currency": "usd"}, "three capital letters"),
])  # fmt: skip
def test_refusals_say_what_was_expected(as_user, rita, product, name, fields, words):
    assert words in act(as_user(rita), name, **fields).text
    assert not Event.objects.exists()


@pytest.mark.parametrize(("name", "key"), [("revert", "move"), ("remove-price", "price"), ("revoke-alias", "alias")])
@pytest.mark.parametrize("value", ["", "x", "9" * 30, "12345"])
def test_unknown_rows_are_not_found(as_user, rita, product, name, key, value):
    assert act(as_user(rita), name, **{key: value, "reason": "x"}).status_code == 404


def test_unknown_products_and_acts_are_not_found(as_user, rita, product):
    assert as_user(rita).get("/review/products/unknown/").status_code == 404
    assert act(as_user(rita), "unknown").status_code == 404
