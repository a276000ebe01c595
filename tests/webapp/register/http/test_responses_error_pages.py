"""The page for a rejected parameter: it has the typed values, with the invalid field marked."""

import re

import pytest
from django.test import Client

from webapp.register.syndication.public_addresses import public_addresses

pytestmark = pytest.mark.django_db


def test_the_other_parameters_are_kept_and_the_invalid_one_is_marked(client):
    answer = client.get("/drives/nvme-flash/?min_tps=lots&max_1ms=3&q=intel")
    assert answer.status_code == 400
    assert answer.text.count('aria-invalid="true"') == 1
    for kept in ('name="min_tps" value="lots"', 'name="max_1ms" value="3"', 'name="q" value="intel"'):
        assert kept in answer.text, kept


@pytest.mark.parametrize(
    ("address", "label"),
    [("/?min_device_tps=abc", "Speed of one drive, at least"), ("/?limit_8ms=abc", "Percent over 8 ms")],
)
def test_an_invalid_value_of_a_field_is_named_and_its_field_comes_first(client, address, label):
    answer = client.get(address)
    assert answer.status_code == 400
    text = answer.text.replace("\N{NO-BREAK SPACE}", " ")
    assert f"<h1>Correct the value of “{label}”</h1>" in text
    assert "<title>Invalid value - Drivecert</title>" in text
    assert "Invalid address" not in text
    assert text.index('value="abc" aria-invalid="true"') < text.index("Show the page without this parameter")


def test_an_unknown_parameter_is_an_invalid_address(client):
    assert "<h1>Invalid address</h1>" in client.get("/?colour=red").text


def test_the_same_address_is_linked_without_the_invalid_parameter(client):
    text = client.get("/drives/nvme-flash/?min_tps=lots&max_1ms=3&q=intel+p4").text
    linked = '<a href="/drives/nvme-flash/?max_1ms=3&amp;q=intel+p4">Show the page without this parameter</a>'
    assert linked in text
    assert '<a href="/drives/nvme-flash/">Show the page without parameters</a>' in text
    assert client.get("/drives/nvme-flash/?max_1ms=3&q=intel+p4").status_code == 200


def test_an_address_with_only_the_invalid_parameter_has_one_way_on(client):
    text = client.get("/explain/?colour=red").text
    assert '<a href="/explain/">Show the page without this parameter</a>' in text
    assert "Show the page without parameters" not in text


def test_a_very_long_address_is_not_linked(client):
    text = client.get("/nines/?reads=x&nines=" + "9" * 10_000).text
    assert "Show the page without this parameter" not in text
    assert '<a href="/nines/">Show the page without parameters</a>' in text


def test_fields_have_the_labels_of_the_form(client):
    text = client.get("/drives/nvme-flash/?min_tps=lots&max_1ms=3&limit_8ms=2&page=1").text
    labels = re.findall(r'<label for="typed-\d+">(.*?)</label>', text)
    assert [label.replace("\N{NO-BREAK SPACE}", " ") for label in labels] == [
        *("Speed, at least", "Over 1 ms, at most", "Percent over 8 ms", "Page")
    ]


def test_an_unknown_parameter_is_left_out_of_the_form(client):
    answer = client.get("/drives/nvme-flash/?colour=red&q=intel")
    assert (answer.status_code, 'name="colour"' in answer.text, 'name="q"' in answer.text) == (400, False, True)


def test_every_page_refuses_an_unknown_parameter(client, make_log_run, make_published_run):
    make_log_run()
    make_published_run()
    pages = [address.path for address in public_addresses() if address.path.endswith("/")]
    assert len(pages) > 20
    for path in pages:
        answer = client.get(f"{path}?colour=red")
        assert (answer.status_code, "Unknown parameter “colour”. " in answer.text) == (400, True), path


def test_typed_text_is_escaped(client):
    answer = client.get("/nines/?reads=%22%3E%3Cscript%3Ealert(1)%3C/script%3E" + "&nines=" + "9" * 10_000)
    assert answer.status_code == 400
    assert "<script>alert" not in answer.text
    assert "9" * 500 not in answer.text


def test_very_many_parameters_do_not_become_fields(client):
    answer = client.get("/nines/?reads=x&" + "&".join(f"a{number}=1" for number in range(500)))
    assert answer.text.count('<div class="field">') <= 60


def test_a_form_without_its_key_gets_a_page_of_the_site_that_says_what_to_do():
    answer = Client(enforce_csrf_checks=True).post("/accounts/login/", {"login": "vera"})
    assert answer.status_code == 403
    assert "Form not accepted" in answer.text
    assert "Reload the page" in answer.text
    assert answer.headers["X-Robots-Tag"] == "noindex"
