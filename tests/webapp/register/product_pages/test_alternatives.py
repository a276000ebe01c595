"""Better and similar drives on a product's page, and the capacities of its model."""

import re
from decimal import Decimal
from html.parser import HTMLParser

import pytest

from webapp.register.product_pages.alternatives import AlternativeRow, AlternativeTable

pytestmark = pytest.mark.django_db


def names(rows):
    return [row.name.replace("\N{NO-BREAK SPACE}", " ") for row in rows]


def row_of(**values):
    texts = dict.fromkeys(("name", "address", "speed", "share", "sustained", "needed", "rated"), "")
    return AlternativeRow(glyph="", **texts | values)


def test_a_column_without_a_value_is_left_out():
    none = AlternativeTable([row_of(share="1.2"), row_of(share="2.0")], "1 ms")
    assert (none.has_sustained, none.has_needed, none.has_rated, none.columns_count) == (False, False, False, 3)
    one = AlternativeTable([row_of(), row_of(sustained="9,000", needed="2", rated="3")], "1 ms")
    assert (one.has_sustained, one.has_needed, one.has_rated, one.columns_count) == (True, True, True, 5)


def test_a_value_that_all_of_several_rows_have_is_said_once():
    same = [row_of(share="0.00", sustained="9,000"), row_of(share="0.00", sustained="8,000")]
    assert AlternativeTable(same, "1 ms").common == {"share": "0.00"}
    sentence = "All of these have 0.00\N{NO-BREAK SPACE}% of reads over 1 ms."
    assert AlternativeTable(same, "1 ms").common_sentence == sentence
    assert AlternativeTable(same[:1], "1 ms").common_sentence == ""
    assert AlternativeTable([row_of(), row_of()], "1 ms").common == {}


def test_better_drives_are_faster_or_slower_to_be_slow_and_never_worse_in_one(make_ranked, context_of):
    this = make_ranked(400_000, "2.00", model="EX")
    make_ranked(500_000, "2.00", model="Faster")
    make_ranked(400_000, "1.99", model="Calmer")
    make_ranked(500_000, "2.01", model="Mixed", capacity_gb=1600)
    make_ranked(400_000, "2.00", model="Equal", capacity_gb=1600)
    found = context_of(this)["neighbours"]
    assert names(found.better) == ["Exemplar Faster 3.2 TB", "Exemplar Calmer 3.2 TB"]
    assert (
        found.better_sentence == "2 drives are at least as fast with no more slow reads, and better in one of the two."
    )
    assert names(found.similar) == ["Exemplar Equal 1.6 TB", "Exemplar Mixed 1.6 TB"]


def test_a_list_of_better_drives_that_is_not_whole_says_so_and_links_to_all(make_ranked, context_of):
    this = make_ranked(400_000, "2.00", model="EX")
    for number in range(3):
        make_ranked(500_000 + number, "1.00", model=f"Better {number}")
    found = context_of(this)["neighbours"]
    assert (found.better_shown, found.better_address) == ("", "")
    make_ranked(600_000, "1.00", model="XPoint", category="nvme-3dxpoint")
    found = context_of(this)["neighbours"]
    assert found.better_shown == "3 of 4 shown"
    assert found.better_sentence.startswith("4 drives of all categories are at least as fast with no more slow reads")
    address = "/drives/?category=nvme-3dxpoint~nvme-flash~sata-sas-flash~m2-flash&min_device_tps=400000&max_1ms=2.00"
    assert found.better_address == f"{address}&within=only"


def test_similar_drives_come_in_the_order_that_their_sentence_states(make_ranked, context_of):
    this = make_ranked(400_000, model="EX", capacity_gb=3200, endurance_dwpd=Decimal(3))
    make_ranked(390_000, "5.00", model="Small", capacity_gb=1600)
    make_ranked(300_000, "5.00", model="Slow", capacity_gb=3200)
    found = context_of(this)["neighbours"]
    assert names(found.similar) == ["Exemplar Slow 3.2 TB", "Exemplar Small 1.6 TB"]
    assert found.similar_sentence == (
        "These comparable NVMe flash drives with 2 to less than 5 DWPD are nearest in speed and capacity; the nearest "
        "is first. Nearness is the ratio of the speeds times the ratio of the capacities."
    )


def test_similar_instances_are_the_nearest_in_speed(make_ranked, context_of):
    facts = {"category": "cloud", "capacity_gb": None, "endurance_dwpd": None, "run": {"device_count": 1}}
    this = make_ranked(400_000, **facts)
    make_ranked(300_000, "5.00", **facts)
    found = context_of(this)["neighbours"]
    assert found.similar_sentence == "These comparable cloud instances are nearest in speed; the nearest is first."


def test_drives_that_sustain_a_higher_speed_are_listed_apart(make_ranked, context_of):
    this = make_ranked(400_000, model="EX")
    make_ranked(300_000, model="Large", capacity_gb=6400)
    make_ranked(300_000, model="Small", capacity_gb=3200)
    found = context_of(this)["neighbours"]
    assert names(found.enduring) == ["Exemplar Large 6.4 TB"]
    assert found.better_sentence == (
        "No comparable drive of another model is faster with no more slow reads, or as fast with fewer. "
        "The endurance rating of 1 other drive allows a higher speed."
    )
    assert names(found.similar) == ["Exemplar Small 3.2 TB"]


def test_several_drives_whose_rating_allows_a_higher_speed_are_counted(make_ranked, context_of):
    this = make_ranked(400_000, model="EX")
    for number in range(4):
        make_ranked(300_000, model=f"Large {number}", capacity_gb=6400)
    found = context_of(this)["neighbours"]
    assert found.better_sentence.endswith("The endurance ratings of 4 other drives allow a higher speed.")


def test_better_drives_come_from_all_categories_of_drives_and_name_theirs(make_ranked, context_of):
    this = make_ranked(400_000)
    make_ranked(500_000, "0.00", category="nvme-3dxpoint", model="XP")
    make_ranked(900_000, "0.00", category="cloud", capacity_gb=None, run={"device_count": 1})
    make_ranked(900_000, "0.00", historical=True)
    found = context_of(this)["neighbours"]
    assert [(row.name.split()[1], row.kind) for row in found.better] == [("XP", "NVMe 3D XPoint")]
    assert found.similar == []


def test_results_of_other_groups_and_over_the_limits_are_never_better(make_ranked, context_of):
    this = make_ranked(400_000)
    make_ranked(900_000, "0.00", run={"tool_version": "5.3"})
    make_ranked(900_000, "0.00", run={"compress_pct": 50})
    make_ranked(900_000, "6.00")
    assert context_of(this)["neighbours"] is None


def test_other_capacities_of_the_model_are_only_in_its_own_table(make_ranked, context_of):
    this = make_ranked(400_000, model="EX4")
    make_ranked(500_000, model="EX4", capacity_gb=6400)
    make_ranked(300_000, model="EX5")
    context = context_of(this)
    shown, slugs = context["neighbours"], [each["product"].slug for each in context["capacities"]]
    assert (names(shown.better), names(shown.similar)) == ([], ["Exemplar EX5 3.2 TB"])
    assert [each["speed"] for each in context["capacities"]] == ["400,000", "500,000"]
    assert context["capacities_address"] == f"/compare/?drive={slugs[0]}&drive={slugs[1]}"


def test_capacities_have_the_figures_of_their_fastest_result(make_ranked, context_of, make_product):
    this = make_ranked(864_000, "0.56", model="EX4")
    make_product(model="EX4", capacity_gb=6400)  # not public
    larger = make_ranked(400_000, "9.00", model="EX4", capacity_gb=7680)
    small, large = context_of(this)["capacities"]
    assert [small[key] for key in ("speed", "share", "sustained", "needed", "is_this")] == [
        *("864,000", "0.56", "108,000", "24"),
        True,
    ]
    assert [large[key] for key in ("product", "speed", "share", "sustained", "needed")] == [
        *(larger, "", "", "259,000"),
        "",
    ]


def test_capacities_say_how_each_was_measured_only_if_they_differ(make_ranked, context_of):
    this = make_ranked(400_000, model="EX4")
    make_ranked(500_000, model="EX4", capacity_gb=6400)
    assert [each["is_mixed"] for each in context_of(this)["capacities"]] == [False, False]
    make_ranked(2_400_000, product=this, run={"device_count": 4})
    capacities = context_of(this)["capacities"]
    assert [(each["speed"], each["how"], each["is_mixed"]) for each in capacities] == [
        ("600,000", "ACT 6.x: time in the drive, as published, 4 devices", True),
        ("500,000", "ACT 6.x: time in the drive, as published, 1 device", True),
    ]
    make_ranked(900_000, product=this, run={"tool_version": "5.3"})
    assert (
        context_of(this)["capacities"][0]["how"]
        == "ACT up to 5.3: time in the drive and in the queue, as published, 1 device"
    )


def test_a_comparison_of_many_capacities_has_the_drive_itself(make_ranked, context_of):
    drives = [make_ranked(400_000, model="EX4", capacity_gb=1000 * size) for size in range(1, 9)]
    compared = [re.findall(r"drive=([^&]+)", context_of(drives[at])["capacities_address"]) for at in (0, 5, 6, 7)]
    assert compared == [[drive.slug for drive in drives[first : first + 6]] for first in (0, 0, 1, 2)]


class RowReader(HTMLParser):
    """Collect for each table the addresses that the heads of its rows lead to."""

    def __init__(self):
        super().__init__()
        self.tables, self._in_head = [], False

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "table":
            self.tables.append(set())
        elif tag == "th":
            self._in_head = values.get("scope") == "row"
        elif tag == "a" and self._in_head and re.match(r"/(drive|runs)/", values.get("href", "")):
            self.tables[-1].add(values["href"])

    def handle_endtag(self, tag):
        if tag == "th":
            self._in_head = False


@pytest.mark.parametrize(
    "slug", ["sandisk-dc-sn861-6400gb", "gcp-n2-standard-80", "intel-p5510-7680gb", "intel-p3700-400gb"]
)
def test_no_two_tables_of_a_page_contain_the_same_row(client, catalogue, slug):
    reader = RowReader()
    reader.feed(client.get(f"/drive/{slug}/").text)
    rows = [row for table in reader.tables for row in table]
    assert len(rows) >= 1
    assert len(rows) == len(set(rows))
