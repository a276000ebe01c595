"""The sentence on the evidence of a drive: logs and publications, who checked them, and since when they are public."""

from datetime import UTC, datetime

import pytest

from results.catalogue.rows import CERTIFICATION_PAGE, published_sources
from results.models import Run, Tier
from webapp.register.product_pages.evidence import evidence_sentence, publication_of

AT = datetime(2026, 11, 3, tzinfo=UTC)


def published(source="Aerospike", at=None):
    return Run(tier=Tier.PUBLISHED, source=source, published_at=at)


def logged(tier=Tier.REVIEWED, at=None, reading_id=1):
    return Run(tier=tier, reading_id=reading_id, published_at=at)


@pytest.mark.parametrize(
    ("runs", "sentence"),
    [
        ([], ""),
        (
            [published(at=AT)],
            "The register has no log of the only result, so it did not check the figures: they are as published by "
            "Aerospike. In the register since 3 November 2026.",
        ),
        (
            [published("a maker"), published("")],
            "The register has no log of any of the 2 results, so it did not check the figures: they are as published.",
        ),
        ([logged()], "The register read the log of the only result: checked by a second person."),
        (
            [logged(Tier.VENDOR_REPORTED, AT), logged(Tier.LAB_VERIFIED), published("a maker")],
            "The register read the logs of 2 of 3 results: 1 tested in a lab of the register, 1 not yet checked by a "
            "reviewer. The other figures are as published by the maker, without a log. The newest is in the "
            "register since 3 November 2026.",
        ),
        (
            [logged(reading_id=None)] * 2,
            "Another register read the logs of all 2 results: 2 checked by a second person.",
        ),
    ],
)
def test_the_sentence_says_what_the_figures_rest_on(runs, sentence):
    assert evidence_sentence(runs) == sentence


def test_a_catalogue_result_links_its_publication_and_a_log_links_none(client, catalogue):
    run = Run.objects.filter(tier=Tier.PUBLISHED, catalogue_key__gt="", product__historical=False).first()
    line = client.get(f"/drive/{run.product.slug}/").text.split('class="note evidence"')[1].split("</p>")[0]
    assert f'Source: <a href="{published_sources()[CERTIFICATION_PAGE].address}"' in line
    assert line.endswith(", date not reported.")
    assert publication_of([logged()]) is None
    assert publication_of([published()]) is None


def test_a_drive_shows_it_below_its_answer(client, make_ranked):
    text = client.get(f"/drive/{make_ranked(300_000).slug}/").text
    assert "The register has no log of the only result" in text.split('class="note evidence"')[1].split("</p>")[0]
