"""The page on the register: what the operator states, what is missing, and how many drives are certified."""

import pytest

from results.lifecycle import visibility
from tests.results.builders import make_user
from tests.results.rows import make_product
from tests.webapp.register.product_pages.test_certificates import certify

pytestmark = pytest.mark.django_db


def test_an_operator_who_states_nothing_is_not_made_up(client):
    text = client.get("/about/").text
    assert (
        "The operator of this installation has not stated who runs it, a contact, who pays for it or its conflicts of "
        "interest." in text
    )
    terms = ("Operator", "Location", "Contact", "Funding", "Conflicts of interest")
    assert [term for term in terms if f">{term}</dt>" in text] == []
    assert "Judge a result by its evidence and not by who publishes it." in text
    assert "not reported" not in text
    assert 'href="#contact"' not in text


STATEMENTS = ("OPERATOR_NAME", "OPERATOR_CONTACT", "OPERATOR_FUNDING", "OPERATOR_INTERESTS")


def test_the_operator_is_shown_as_the_settings_state_it(client, settings):
    settings.OPERATOR_NAME, settings.OPERATOR_PLACE = "Drive <Lab>", "Berlin, Germany"
    settings.OPERATOR_CONTACT = "drives@example.com"
    settings.OPERATOR_FUNDING = "Example AG, which also sells drives"
    settings.OPERATOR_INTERESTS = "None."
    text = client.get("/about/").text
    assert "<bdi>Drive &lt;Lab&gt;</bdi>" in text
    assert "<bdi>Berlin, Germany</bdi>" in text
    assert '<a href="mailto:drives@example.com"><bdi>drives@example.com</bdi></a>' in text
    assert "<bdi>Example AG, which also sells drives</bdi> " in text
    assert "(as the operator states it)" in text
    assert "<bdi>None.</bdi> " in text
    assert "has not stated" not in text
    assert text.count('href="#contact"') == 3


@pytest.mark.parametrize(
    ("contact", "link"),
    [
        ("https://example.com/contact", '<a href="https://example.com/contact">'),
        ("Room 4, house@home street", ""),
        ("javascript:alert(1)", ""),
    ],
)
def test_a_contact_is_a_link_if_it_is_an_address(client, settings, contact, link):
    settings.OPERATOR_CONTACT = contact
    text = client.get("/about/").text
    assert f"<bdi>{contact}</bdi>" in text
    assert (f"<bdi>{contact}</bdi></a>" in text) == bool(link)
    assert link in text


@pytest.mark.parametrize(
    ("licence", "shown"),
    [
        ("CC-BY-4.0", 'rel="license" href="https://creativecommons.org/licenses/by/4.0/">Creative Commons Attribution'),
        ("Our own terms", "the licence <b>Our own terms</b>"),
    ],
)
def test_the_licence_of_the_data_is_stated_there_and_in_every_footer(client, settings, licence, shown):
    settings.DATA_LICENCE = licence
    assert shown in client.get("/about/").text
    for path in ("/", "/ycsb/", "/accounts/login/", "/nothing/"):
        assert f'Licence of the data: <a href="/about/#licence">{licence}</a>.' in client.get(path).text, path


def test_every_page_links_to_news_and_about(client):
    for path in ("/", "/explain/", "/accounts/login/", "/nothing/"):
        text = client.get(path).text
        assert '<a href="/news/"' in text
        assert '<a href="/about/"' in text


def test_the_page_names_what_accessibility_was_tested(client):
    text = client.get("/about/").text
    for words in ("axe-core rules", "Keyboard", "320 pixels", "Without JavaScript", "Print", "dark theme"):
        assert words in text


def test_the_page_has_no_parameters(client):
    assert client.get("/about/?x=1").status_code == 400


def test_the_page_says_how_many_products_are_certified_and_what_published_percentages_are(client):
    text = client.get("/about/").text
    assert "<b>No drive is certified yet.</b>" in text
    assert "steady-state values as the source printed them, not those of the worst hour" in text
    first = certify(make_product())
    certified = make_product()
    certify(certified)
    certify(certified, 90)
    assert "<b>2 drives are certified.</b>" in client.get("/about/").text
    visibility.withdraw(first[0], make_user("rita"), "Wrong drive.")
    assert "<b>1 drive is certified.</b>" in client.get("/about/").text


def test_withdrawn_certificates_are_no_certificates(client):
    load, _ = certify(make_product())
    visibility.withdraw(load, make_user("rita"), "Wrong drive.")
    assert "<b>No drive is certified now: all certificates were withdrawn.</b>" in client.get("/about/").text
