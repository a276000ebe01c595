"""What the register has and what is missing: counts of public results, and the organisations that sent logs."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from results.models import Tier
from tests.results.builders import make_organisation, send
from tests.results.rows import make_product, make_run
from webapp.register.about.holdings import Holdings, holdings

pytestmark = pytest.mark.django_db


def test_a_register_without_results_says_so(client):
    text = client.get("/about/").text
    assert "<li>The register has no public result yet.</li>" in text
    assert "No organisation has a public result from a log yet." in text


def test_a_register_of_published_results_says_that_no_result_has_a_log(client, catalogue):
    count = holdings().all
    text = client.get("/about/").text
    assert f"<li>No public result has a log yet: all {count} are figures from publications.</li>" in text
    assert "<li>No lab of the register has a public result yet.</li>" in text
    assert "No organisation has a public result from a log yet." in text


def test_the_senders_of_public_logs_are_named_and_others_are_not(client):
    shown, hidden = (send(make_organisation(slug), slug.encode()) for slug in ("shown-drives", "hidden-drives"))
    make_run(make_product(), tier=Tier.LAB_VERIFIED, submission=shown)
    make_run(make_product(), visibility="unreviewed", submission=hidden)
    text = client.get("/about/").text
    assert "The logs of public results are from Shown-Drives." in text
    assert "Hidden" not in text
    assert "1 of 1 public result has a log." in text
    assert "1 result is from a lab of the register." in text


def test_results_are_counted_once_for_each_state_of_the_register(client):
    product = make_product()

    def add(count):
        for _ in range(count):
            make_run(product, tier=Tier.LAB_VERIFIED)
        return client.get("/about/").text

    assert "1 of 1 public result has a log." in add(1)
    assert "3 of 3 public results have a log." in add(2)
    with CaptureQueriesContext(connection) as queries:
        client.get("/about/")
    assert [each["sql"] for each in queries if 'FROM "results_run" WHERE' in each["sql"].partition("EXISTS")[0]] == []


def test_a_sender_has_its_present_name(client):
    sender = make_organisation("shown-drives")
    make_run(make_product(), tier=Tier.LAB_VERIFIED, submission=send(sender, b"log"))
    assert "from Shown-Drives." in client.get("/about/").text
    sender.name = "Other Drives"
    sender.save()
    assert "from Other Drives." in client.get("/about/").text


@pytest.mark.parametrize(
    ("numbers", "sentences"),
    [
        (
            Holdings(5, 2, 0, 1),
            [
                "2 of 5 public results have a log. The other 3 are figures from publications.",
                "No lab of the register has a public result yet.",
                "1 result of YCSB has its output.",
            ],
        ),
        (
            Holdings(2, 2, 2, 0),
            [
                "2 of 2 public results have a log.",
                "2 results are from a lab of the register.",
                "No YCSB run has a public result yet: the YCSB figures are from publications of vendors.",
            ],
        ),
    ],
)
def test_each_number_has_a_sentence(numbers, sentences):
    assert numbers.sentences == sentences
