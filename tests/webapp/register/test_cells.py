"""Cells that are cached for each state of the register: current after a change, and only on their own pages."""

from decimal import Decimal

import pytest

from results.models import Annotation, Product, Profile, Run, Share
from tests.webapp.register.pages import read_rows
from webapp.register.drives.store import column_store

ADDRESSES = (
    "/drives/nvme-flash/",
    "/drives/nvme-flash/?columns=firmware~tier&withdrawn=include&historical=include",
    "/drives/historical/",
    "/drives/",
)


@pytest.fixture
def runs(make_product, make_published_run):
    """Results of one model in two capacities, and of a drive that is historical."""
    products = [make_product(model="EX", slug=f"ex-{size}", capacity_gb=size) for size in (960, 1920)]
    return [*(make_published_run(product=each) for each in products),
            make_published_run(product=make_product(model="OLD", historical=True))]  # fmt: skip


def withdraw(runs):
    Run.objects.filter(pk=runs[0].pk).update(visibility="withdrawn")


def rename(runs):
    Product.objects.filter(pk=runs[0].product_id).update(model="Renamed <b>", capacity_gb=800)


def slow_down(runs):
    Run.objects.filter(pk=runs[0].pk).update(tps=Decimal(100_000))


def correct(runs):
    Share.objects.filter(run=runs[1], threshold_us=1000).update(printed="0.11", share_pct=Decimal("0.11"))


def annotate(runs):
    Annotation.objects.create(run=runs[0], text="Seen twice.")


def make_current(runs):
    Product.objects.filter(pk=runs[2].product_id).update(historical=False)


def tighten(runs):
    first = Profile.objects.get(name="operational-database")
    document = first.document.replace('"limit_pct": "5"', '"limit_pct": "3"')
    Profile.objects.create(name=first.name, rule_version=2, document=document, sha256="0" * 64)


def pages(client):
    return [client.get(address).text for address in ADDRESSES]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (withdraw, ["withdrawn"]),
        (rename, ["Renamed <b>"]),
        (slow_down, ["100,000"]),
        (correct, ["0.11"]),
        (make_current, ["OLD"]),
    ],
)
def test_a_changed_row_is_shown_with_its_change(client, runs, change, said):
    def shown():
        address = "/drives/nvme-flash/?columns=tps~pct_over_1ms&withdrawn=include"
        return "\n".join(cell for row in read_rows(client.get(address)) for cell in row)

    assert not any(word in shown() for word in said)
    change(runs)
    assert all(word in shown() for word in said)


@pytest.mark.parametrize("change", [withdraw, rename, slow_down, correct, annotate, make_current, tighten])
def test_pages_after_a_change_equal_those_of_a_store_built_from_scratch(client, runs, change):
    before = pages(client)
    change(runs)
    after = pages(client)
    column_store._current.clear()
    assert after == pages(client)
    assert after != before


def test_a_drive_is_marked_historical_only_among_current_ones_for_each_request(client, runs):
    mark = '<span class="tag">historical</span>'
    addresses = ("/drives/historical/", "/drives/nvme-flash/?historical=include") * 2
    assert [client.get(address).text.count(mark) for address in addresses] == [0, 1, 0, 1]


def test_a_share_is_padded_like_its_neighbours_and_marked_by_the_requested_limits(client, runs, make_published_run):
    make_published_run({1000: "4.125"})
    cells = [
        client.get(f"/drives/nvme-flash/{query}").text.partition("share g-share")[2].partition("</td>")[0]
        for query in ("", "?limit_1ms=3", "?max_1ms=4", "")
    ]
    assert cells[0] == cells[3]
    assert len(set(cells)) == 3


def test_names_are_escaped_in_the_form_too(client, make_published_run, make_product):
    for vendor in ('A & <B> "C"', "Other"):
        make_published_run(product=make_product(vendor=vendor))
    text = client.get("/drives/nvme-flash/").text
    assert 'value="a-b-c">A &amp; &lt;B&gt; &quot;C&quot; <span class="sub">(1)</span></label>' in text
    assert 'value="other">Other <span class="sub">(1)</span></label>' in text
