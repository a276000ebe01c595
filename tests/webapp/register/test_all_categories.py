"""One list of all categories, and the form of the home page for it."""

from decimal import Decimal

import pytest

from tests.webapp.register.pages import read_headline, read_rows

pytestmark = pytest.mark.django_db


def names(response):
    return [row[0] for row in read_rows(response)]


@pytest.fixture
def fast_and_slow(make_product, make_published_run):
    """A fast and a slow drive of two categories, a fast one over a limit, and a fast one of the past."""
    for model, category, tps, over, historical in (
        ("FASTNVME", "nvme-flash", 600_000, "1.00", False), ("SLOWSATA", "sata-sas-flash", 90_000, "1.00", False),
        ("FASTCLOUD", "cloud", 900_000, "2.00", False), ("OVERNVME", "nvme-flash", 700_000, "7.00", False),
        ("OLDNVME", "nvme-flash", 800_000, "1.00", True),
    ):  # fmt: skip
        product = make_product(model=model, category=category, historical=historical)
        shares = {1000: over, 8000: "0.10", 64000: "0.00"}
        make_published_run(shares, product, tps=Decimal(tps), device_count=1)


def test_drives_of_all_categories_are_in_one_list_from_the_fastest(client, fast_and_slow):
    shown = names(client.get("/drives/"))
    assert [next(model for model in ("CLOUD", "OVER", "FASTNVME", "SATA") if model in name) for name in shown] == [
        "CLOUD", "OVER", "FASTNVME", "SATA"
    ]  # fmt: skip


def test_a_drive_comes_before_an_instance_of_many_slower_devices(
    client, fast_and_slow, make_product, make_published_run
):
    instance = make_product(model="MANYCLOUD", category="cloud")
    shares = {1000: "1.00", 8000: "0.10", 64000: "0.00"}
    make_published_run(shares, instance, tps=Decimal(1_200_000), device_count=12)
    places = ["MANYCLOUD" in name for name in names(client.get("/drives/"))]
    assert places == [False, False, False, True, False], "at 100,000 tps of one device, after all but the slow drive"
    by_speed = client.get("/drives/?sort=-tps")
    assert "MANYCLOUD" in names(by_speed)[0]
    assert "sort=-tps" in by_speed.text, "links keep the chosen order"
    assert "?sort=-device_tps" not in by_speed.text, "the first order has the address without one"


@pytest.mark.parametrize(
    ("query", "group"), [("", "share"), ("?sort=-device_tps", "share"), ("?sort=device_count", "device")]
)
def test_a_phone_shows_slow_reads_until_the_reader_sorts_by_another_group(client, fast_and_slow, query, group):
    assert f'class="c-{group}" checked' in client.get(f"/drives/{query}").text


def test_a_load_and_limits_select_the_drives_that_sustain_it(client, fast_and_slow):
    address = "/drives/?min_tps=500+000&within=only"
    assert len(names(client.get(address, follow=True))) == 2
    assert len(names(client.get(f"{address}&limit_1ms=7", follow=True))) == 3
    assert ["FASTNVME" in name for name in names(client.get(f"{address}&limit_1ms=1", follow=True))] == [True]


def form_of(home, action):
    return home.split(f'action="{action}"')[1].split("</form>")[0]


def test_the_home_page_has_separate_forms_for_single_drives_and_cloud_instances(client, fast_and_slow):
    home = client.get("/").text
    drives, cloud = form_of(home, "/"), form_of(home, "/drives/cloud/")
    for name in ("category", "min_device_tps", "limit_1ms", "limit_8ms", "limit_64ms"):
        assert f'name="{name}"' in drives
    assert ['value="500,000"' in form for form in (drives, cloud)] == [True, True]
    assert '<option value="nvme-3dxpoint~nvme-flash~sata-sas-flash~m2-flash">drives of all kinds</option>' in drives
    assert 'value="cloud' not in drives
    assert 'name="min_tps"' in cloud
    limits = "limit_1ms=5&limit_8ms=1&limit_64ms=0.1&within=only"
    kinds = "category=nvme-3dxpoint~nvme-flash~sata-sas-flash~m2-flash"
    answer = client.get(f"/drives/?{kinds}&min_device_tps=&{limits}&sort=-device_tps")
    assert ["CLOUD" in name for name in names(answer)] == [False, False]
    assert len(names(client.get(f"/drives/cloud/?min_tps=500,000&{limits}", follow=True))) == 1


@pytest.mark.parametrize(("least", "shown"), [("25000", 1), ("25001", 0)])
def test_the_load_of_one_device_is_compared_with_each_device_of_a_row(client, make_published_run, least, shown):
    make_published_run(tps=Decimal(600_000), device_count=24)
    assert len(names(client.get(f"/drives/?min_device_tps={least}"))) == shown
    assert len(names(client.get("/drives/?min_tps=600000"))) == 1


def test_the_number_of_devices_and_the_speed_of_one_are_shown_next_to_the_total(
    client, make_product, make_published_run
):
    for model, tps, devices in (("MANY", 600_000, 24), ("ONE", 30_000, 1), ("UNTOLD", 20_000, None)):
        make_published_run(product=make_product(model=model), tps=Decimal(tps), device_count=devices)
    f_series = make_product(model="OpenFlex F-Series", category="networked")
    make_published_run(product=f_series, tps=Decimal(900_000), device_count=None)
    rows = client.get("/drives/?format=json&sort=-device_tps").json()["rows"]
    assert [(row["device_count"], row["device_tps"]) for row in rows] == [
        (1, 30_000),
        (24, 25_000),
        (None, 20_000),
        (None, None),
    ]


def test_a_short_run_is_marked_with_the_default_columns(client, make_published_run):
    make_published_run(duration_s=600, device_count=24)
    text = client.get("/drives/").text
    assert "ran 10" in text
    assert 'data-column="device_count"' in text


def test_a_category_can_be_selected(client, fast_and_slow):
    assert len(names(client.get("/drives/?category=cloud~sata-sas-flash"))) == 2
    assert client.get("/drives/?category=tape").status_code == 400
    assert "<h1 data-categories>Drives: Cloud instances</h1>" in client.get("/drives/?category=cloud").text
    assert "<h1 data-categories>Drives of all categories</h1>" in client.get("/drives/").text


def test_the_export_has_the_list_as_shown(client, fast_and_slow):
    rows = client.get("/drives/?format=json&category=cloud").json()["rows"]
    assert len(rows) == 1
    assert "Cloud instances" in client.get("/drives/?category=cloud").text


def test_the_number_of_queries_does_not_grow_with_the_drives(count_queries, fast_and_slow, make_published_run):
    few = count_queries("/drives/")
    for _ in range(20):
        make_published_run()
    assert count_queries("/drives/") == few


def lede(response):
    return " ".join(filter(None, read_headline(response)))


@pytest.mark.parametrize(
    ("limit", "fastest", "over"),
    [
        (
            "7",
            "FASTCLOUD",
            "0 of 4 results are over one of your limits: at most 7 % over 1 ms, 1 % over 8 ms, 0.1 % over 64 ms.",
        ),
        (
            "6.99",
            "FASTCLOUD",
            "1 of 4 results is over one of your limits: at most 6.99 % over 1 ms, 1 % over 8 ms, 0.1 % over",
        ),
        (
            "1",
            "FASTNVME",
            "2 of 4 results are over one of your limits: at most 1 % over 1 ms, 1 % over 8 ms, 0.1 % over 64 ms.",
        ),
    ],
)
def test_the_headline_counts_results_within_the_limits_and_names_the_limits(
    client, fast_and_slow, limit, fastest, over
):
    said = lede(client.get(f"/drives/?limit_1ms={limit}"))
    assert over in said
    assert fastest in said.split("Fastest within your limits as published, ACT 6.x: ")[1].split(" at ")[0]


def test_the_headline_under_the_profile_does_not_depend_on_earlier_requests(client, fast_and_slow):
    client.get("/drives/?limit_1ms=1")
    said = lede(client.get("/drives/"))
    assert said.endswith("1 of 4 results is over a limit of the profile.")
    assert "Fastest within the limits as published, ACT 6.x: " in said


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (
            "category=nvme-flash~sata-sas-flash&within=only",
            ["3 results from publications match the filters.", "FASTNVME", "1 of 3 results is over"],
        ),
        ("min_tps=650000", ["2 results from publications match the filters.", "FASTCLOUD", "1 of 2 results is over"]),
        ("q=slowsata", ["1 result from a publication matches the filters.", "SLOWSATA"]),
        (
            "category=nvme-flash&historical=include",
            ["3 results from publications match the filters.", "OLDNVME", "1 of 3 results is over"],
        ),
    ],
)
def test_the_headline_counts_the_matching_results(client, fast_and_slow, query, said):
    text = lede(client.get(f"/drives/?{query}"))
    assert [words in text for words in said] == [True] * len(said), text


def test_the_headline_of_an_empty_result_names_no_limits(client, fast_and_slow):
    assert lede(client.get("/drives/?q=nosuch&limit_1ms=3")) == "No results match the filters."


def test_the_notes_name_only_shown_columns(client, fast_and_slow):
    text = client.get("/drives/").text
    assert "those of all devices of the instance together" in text
    assert "under Storage" not in text


@pytest.mark.parametrize(
    ("query", "said", "kept_back"), [("", "marked", "hidden"), ("&within=only", "hidden", "marked")]
)
def test_the_effect_of_limits_is_stated(client, fast_and_slow, query, said, kept_back):
    text = client.get(f"/drives/?limit_1ms=3{query}").text
    assert f'<span data-over="{said}">(results over' in text
    assert f'<span data-over="{kept_back}" hidden>(results over' in text


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("7", "With your limits, 3 of 3 pass; 1 that fails the profile passes: "),
        ("1", "With your limits, 1 of 3 pass; 1 that passes the profile fails: "),
        ("6", "With your limits, 2 of 3 pass; the same as with the profile."),
        ("5", "Within all limits: 2 of 3 results."),
    ],
)
def test_the_effect_of_limits_on_hidden_rows_is_stated(client, fast_and_slow, limit, said):
    assert said in client.get(f"/drives/?min_tps=500000&within=only&limit_1ms={limit}").text


@pytest.mark.parametrize(("least", "is_said"), [(850_000, True), (650_000, False)])
def test_reasons_that_overlap_are_marked(client, fast_and_slow, least, is_said):
    text = client.get(f"/drives/?min_tps={least}").text
    assert ("A drive can fail several filters." in text) is is_said
    assert (", 3 only for this reason" in text) is is_said
    assert (">Show 2</a>" in text) is not is_said
