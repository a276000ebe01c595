"""Share images of claims: size, text and geometry are those of the page."""

import io
import re

import pytest
from PIL import Image

from tests.webapp.register.drawings import charts_of, of_class, parsed, percent, texts_of
from webapp.register.svg.card import HEIGHT, WIDTH, plot_surface
from webapp.register.svg.png import ELLIPSIS
from webapp.register.ycsb.claims.charts import card_of
from webapp.register.ycsb.claims.entries import entries, entry_of

PLOT = plot_surface("threads")
MEAN = entry_of("micron-7400-brief", "mean-improvement-over-thread-counts-d")
SHOWN = [entry for entry in entries() if entry.claim_id in {
    "mean-improvement-over-thread-counts-d", "throughput-gain-a", "lower-p99-9-read-latency-at-460000-ops-s-a",
    "memory-utilization-small-gains-a-f", "lower-average-read-latency-mean-over-thread-counts-f",
}]  # fmt: skip


def card_texts(entry):
    return [each.text for each in parsed(card_of(entry)).iter("text")]


def picture_of(client, entry):
    response = client.get(entry.picture)
    assert response.status_code == 200
    assert response["Content-Type"] == "image/png"
    return response


@pytest.mark.parametrize("entry", SHOWN, ids=lambda entry: entry.claim_id)
def test_an_image_is_a_png_of_1200_by_630_that_is_not_empty(client, entry):
    picture = Image.open(io.BytesIO(picture_of(client, entry).content))
    assert (picture.format, picture.size) == ("PNG", (WIDTH, HEIGHT))
    left, top, right, bottom = 60, 96, 600, 520  # below the frame's own words: the stated and the recomputed number
    words = picture.convert("L").crop((left, top, right, bottom))
    assert sum(words.histogram()[:128]) > 2000


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: f"{entry.slug}/{entry.claim_id}")
def test_the_words_of_an_image_are_those_of_the_page(client, entry):
    words = card_texts(entry)
    assert entry.stated in words
    assert (entry.recomputed or "not possible") in words
    page = client.get(entry.address).text.replace("\xa0", " ").replace("&quot;", '"')
    for text in (entry.stated, entry.recomputed or "not possible", entry.label):
        assert text.lower() in page.lower()


def test_the_image_of_the_contradicted_claim_says_what_its_page_says():
    words = card_texts(MEAN)
    assert words[:4] == [
        "Drivecert",
        "published claims, recomputed: contradicted",
        "Micron on the 7400 PRO: stated",
        "24 %",
    ]
    assert words[4:6] == ["Its own table gives", "25.8 %"]
    assert {"its table 25.8 %", "stated 24 %", "threads"} <= set(words)


def test_an_image_names_the_licence_of_the_data(settings):
    settings.DATA_LICENCE = "CC0-1.0"
    assert any(text.endswith("(licence of the data: CC0-1.0)") for text in card_texts(MEAN))


def test_the_plot_of_an_image_has_the_columns_of_the_page_at_the_same_places(client):
    (page,) = charts_of(client.get(MEAN.address))
    card = parsed(card_of(MEAN))
    on_page, in_image = of_class(page, "col"), of_class(card, "col")
    assert len(on_page) == len(in_image) == 10
    for column, drawn in zip(on_page, in_image, strict=True):
        x, y = percent(column.get("x")) / 100, percent(column.get("y")) / 100
        assert float(drawn.get("x")) == pytest.approx(PLOT.left + PLOT.width * x, abs=0.1)
        assert float(drawn.get("y")) == pytest.approx(PLOT.top + PLOT.height * y, abs=0.1)
    lines = [[each.get("y1") for each in of_class(chart, "level")] for chart in (page, card)]
    for page_y, image_y in zip(*lines, strict=True):
        assert float(image_y) == pytest.approx(PLOT.top + PLOT.height * percent(page_y) / 100, abs=0.1)
    assert texts_of(page, "stated") == texts_of(card, "stated")


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: f"{entry.slug}/{entry.claim_id}")
def test_nothing_of_a_plot_is_outside_the_image(entry):
    for each in parsed(card_of(entry)).iter():
        for name, most in (("x", WIDTH), ("x1", WIDTH), ("x2", WIDTH), ("y", HEIGHT), ("y1", HEIGHT), ("y2", HEIGHT)):
            if each.get(name):
                assert 0 <= float(each.get(name)) <= most


def test_an_image_is_public_and_has_an_etag(client):
    response = picture_of(client, MEAN)
    assert response["Cache-Control"] == "public, max-age=60"
    assert client.get(MEAN.picture, headers={"If-None-Match": response["ETag"]}).status_code == 304


def test_a_plot_that_would_be_too_small_is_left_out():
    assert "mark" not in card_of(entry_of("kioxia-fl6-brief", "memory-utilization-small-gains-a-f"))
    assert re.search('class="mark"', card_of(MEAN))


def test_an_image_says_which_side_the_number_favours_where_it_is_from_and_where_its_page_is():
    assert card_texts(MEAN)[6:11] == [
        "Stated 1.8 percentage points too low: is to the disadvantage of the publisher, Micron.",
        "Without the row of 48 threads, the mean is 23.8 %. The register does not have the document.",
        "Mean improvement over thread counts, workload D",
        "Brief on the Micron 7400 PRO and RocksDB; date not recorded",
        f"http://127.0.0.1:8000/id/{MEAN.public_id} (licence of the data: CC-BY-4.0)",
    ]


@pytest.mark.parametrize(
    ("publication", "name", "remark"),
    [
        (
            "kioxia-fl6-brief",
            "run-time-gain-f",
            "Favours neither side: rounding explains the difference.",
        ),
        (
            "micron-7400-brief",
            "peak-throughput-improvement-a",
            "Favours neither side: rounding explains the difference.",
        ),
        (
            "micron-x100-paper",
            "lower-p99-9-read-latency-at-460000-ops-s-a",
            "Favoured side not decided: the chart is not precise enough.",
        ),
        (
            "kioxia-fl6-brief",
            "throughput-gain-e",
            "Favours neither side: rounding explains the difference.",
        ),
        (
            "kioxia-fl6-brief",
            "memory-utilization-small-gains-a-f",
            "Favoured side not known: the claim has no number.",
        ),
        (
            "micron-x100-paper",
            "throughput-d",
            "Favoured side not known: the claim cannot be recomputed.",
        ),
    ],
)
def test_the_favoured_side_of_an_image(publication, name, remark):
    assert remark in card_texts(entry_of(publication, name))


def test_an_image_says_that_a_claim_uses_an_impossible_result():
    subject = "published claims, recomputed: one of its inputs cannot be true"
    assert card_texts(entry_of("kioxia-fl6-brief", "throughput-gain-a"))[1] == subject


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: f"{entry.slug}/{entry.claim_id}")
def test_no_text_of_an_image_is_cut_off(entry):
    assert [text for text in card_texts(entry) if text.endswith(ELLIPSIS)] == []
