"""The page Sizing: drives and instances, limits, restrictions, comparison groups, every step, and other mixes."""

import html
import re
from decimal import Decimal

import pytest
from django.utils import timezone
from django.utils.html import strip_tags

from results.models import Certificate, CertificateRun, Product, Profile, Visibility
from tests.webapp.register.pages import shown_html
from webapp.register.sizing import page

pytestmark = pytest.mark.django_db
NB = "\N{NO-BREAK SPACE}"

# 400,000 reads/s and 100,000 writes/s in two copies, 10 TB: 600,000 tps and 40 TB on the drives.
ASKED = "reads=400000&writes=100000&data=10&copies=2&per_node=1&spare=0"


@pytest.fixture
def drive(make_product, make_published_run):
    """Return a function that makes a product with one published run."""

    def make(tps=200_000, capacity_gb=6400, dwpd="3", shares=None, **fields):
        product = make_product(capacity_gb=capacity_gb, endurance_dwpd=dwpd and Decimal(dwpd), **fields)
        make_published_run(shares, product, tps=Decimal(tps))
        return product

    return make


def answer(client, query=ASKED):
    response = client.get(f"/sizing/?{query}&format=json")
    assert response.status_code == 200
    return {row["product"]: row for row in response.json()["rows"]}


def test_each_drive_is_sized_at_its_tested_load(client, drive):
    quick, large = drive(tps=100_000, capacity_gb=100_000), drive(tps=10**6, capacity_gb=1_000)
    found = answer(client)
    assert (found[quick.slug]["drives"], found[quick.slug]["binding"]) == (6, "throughput")
    assert (found[large.slug]["by_throughput"], found[large.slug]["by_capacity"]) == (1, 40)


def test_a_low_rating_limits_by_endurance(client, drive):
    product = drive(tps=10**6, capacity_gb=20_000, dwpd="0.3")
    found = answer(client)[product.slug]
    # 53.08416 TB a day / 20 TB / 0.3 DWPD = 8.85 drives
    assert (found["drives"], found["binding"], found["needed_dwpd"]) == (9, "endurance", "0.295")


def test_drives_that_need_the_same_number_are_counted(client, drive):
    drive(capacity_gb=20_000, model="FIRST9")
    drive(capacity_gb=20_000, model="SECOND9")
    drive(capacity_gb=1_000, model="SMALL9")
    text = client.get(f"/sizing/?{ASKED}").text.replace(NB, " ")
    assert "Fewest drives: 3 x Exemplar FIRST9 20 TB in 3 nodes, limited by throughput; " in text
    assert "; equally 3 x Exemplar SECOND9 20 TB." in text


def test_of_many_winners_the_sentence_has_the_first_and_the_number_of_the_others(client, drive):
    for number in range(page.TIED_NAMED + 3):
        drive(capacity_gb=20_000, model=f"DRIVE{number}", slug=f"drive-{number}")  # ties are in the order of slugs
    assert "3 x Exemplar DRIVE5 20 TB and 2 more." in client.get(f"/sizing/?{ASKED}").text.replace(NB, " ")


@pytest.mark.parametrize(("reads", "is_bound"), [(400_000, False), (900_000, True)])
def test_an_upper_bound_says_that_it_may_be_fewer(client, drive, reads, is_bound):
    drive(capacity_gb=20_000)
    text = client.get(f"/sizing/?{ASKED}&reads={reads}".replace("reads=400000&", "", 1)).text
    assert ("This is an upper bound: it may be fewer." in text) == is_bound


@pytest.mark.parametrize("more", [0, 1])
def test_the_rows_after_the_best_ones_are_folded(client, drive, more):
    for number in range(page.FIRST_ROWS + more):
        drive(capacity_gb=20_000, model=f"DRIVE{number}")
    text = client.get(f"/sizing/?{ASKED}").text
    first = text.split('<table class="sizes">')[1].split("</table>")[0]
    assert first.count('<tr><th scope="row">') == page.FIRST_ROWS
    assert (f"<summary>Show all {page.FIRST_ROWS + more}</summary>" in text) == bool(more)
    assert text.count('<tr><th scope="row"><a class="quiet"') == page.FIRST_ROWS + more


@pytest.mark.parametrize(("dwpd", "is_small"), [("0.50", False), ("0.48", True)])
def test_a_margin_below_a_tenth_is_marked_in_words(client, drive, dwpd, is_small):
    # 6 drives of 20 TB take 53.08416 TB a day, 0.442 DWPD: 11.5 % or 7.8 % of the rating are left.
    drive(tps=100_000, capacity_gb=20_000, dwpd=dwpd)
    text = client.get(f"/sizing/?{ASKED}").text
    assert ("rating almost used up" in text) == is_small


def test_the_request_to_enter_a_workload_is_gone_once_there_is_an_answer(client, drive):
    request = "Enter your workload to see how many drives you need"
    assert request in client.get("/sizing/?data=much").text
    assert request in client.get(f"/sizing/?{ASKED}").text
    drive()
    assert request not in client.get(f"/sizing/?{ASKED}").text


@pytest.mark.parametrize("typed", ["5 million", "5 mio", "5e6", "5M"])
def test_a_workload_can_be_typed_as_people_write_it(client, drive, typed):
    drive()
    text = client.get("/sizing/", {"reads": typed, "writes": "100000"}).text
    assert "not understood" not in text


def test_the_amount_of_data_is_below_the_headline_with_a_link_to_change_it(client, drive):
    drive()
    link = '<a href="#field-data">Change the amount of data</a>'
    for query, sentence in (
        ("", f"20{NB}TB of your data, which the cluster stores in 2 copies."),
        ("?data=7.5&copies=1", f"7.5{NB}TB of your data, which the cluster stores in a single copy."),
    ):
        text = client.get(f"/sizing/{query}").text
        assert f'<p class="lede" id="data-said">This is for {sentence} {link}</p>' in text
    assert link not in client.get("/sizing/?data=much").text


def test_the_fewest_drives_come_first_and_are_named_in_the_sentence(client, drive):
    drive(capacity_gb=1_000, model="SMALL9")
    drive(capacity_gb=20_000, model="LARGE9")
    response = client.get(f"/sizing/?{ASKED}")
    assert (
        "Fewest drives: 3 x Exemplar LARGE9 20\N{NO-BREAK SPACE}TB in 3 nodes, limited by throughput." in response.text
    )


def test_prices_in_an_old_address_find_the_cheapest(client, drive):
    small, large = drive(capacity_gb=5_000), drive(capacity_gb=20_000)
    query = f"{ASKED}&price-{small.slug}=100&price-{large.slug}=1000&sort=cheapest"
    found = answer(client, query)
    assert list(found) == [small.slug, large.slug]
    assert [row["price"] for row in found.values()] == ["800", "3000"]
    text = client.get(f"/sizing/?{query}").text
    assert "Cheapest of those with a price: 8 x" in text
    assert '<td class="n g-price">800</td>' in text


def test_the_cheapest_is_of_the_group_that_is_ranked(client, make_product, make_published_run):
    product = {version: make_product(capacity_gb=100_000) for version in ("6.4", "5.2", "")}
    for version, each in product.items():
        make_published_run(product=each, tool_version=version)
    prices = "&".join(f"price-{each.slug}={price}" for price, each in zip((30, 20, 10), product.values(), strict=True))
    text = client.get(f"/sizing/?{ASKED}&{prices}").text
    assert f"Cheapest of those with a price: 2 x Exemplar {product['6.4'].model} 100" in text


def test_the_cheapest_drive_has_a_rating_if_one_has(client, drive):
    rated, unrated = drive(capacity_gb=20_000), drive(capacity_gb=20_000, dwpd=None)
    query = f"/sizing/?{ASKED}&price-{unrated.slug}=10"
    said = "Endurance is not included: the rating is not reported."
    assert client.get(query).text.count(said) == 1
    text = client.get(f"{query}&price-{rated.slug}=20").text
    assert f"Cheapest of those with a price: 3 x Exemplar {rated.model} 20" in text
    assert said not in text
    assert text.count(" data-unrated") == 0  # the prices of the address take the place of the cells
    assert client.get(f"/sizing/?{ASKED}").text.count(" data-unrated") == 1


def test_a_size_without_endurance_says_so(client, drive, instance):
    drive(capacity_gb=20_000, dwpd=None)
    instance()
    said = "Endurance is not included: the rating is not reported."
    assert f"limited by throughput. {said}" in client.get(f"/sizing/?{ASKED}").text
    assert said not in client.get(f"/sizing/?{ASKED}&of=instances").text


def test_the_form_sends_no_price_and_the_cells_of_prices_are_hidden_without_a_script(client, drive):
    product = drive(capacity_gb=20_000)
    text = shown_html(client.get(f"/sizing/?{ASKED}"))
    assert 'name="price-' not in text
    assert "cheapest first" not in text
    cells = re.findall(r"<t[dh][^>]* data-price[^>]*>", text)
    assert len(cells) == 4  # two heads and two cells
    assert all(cell.endswith(" hidden>") for cell in cells)
    assert f'data-price="{product.slug}" data-shows="total"' in text
    assert re.search(r'data-tps="200000" data-sustained="[^"]*" data-gb="20000" data-count="3"', text)
    assert re.search(r"<section class=\"prices[^>]* hidden>", text)


def test_live_typing_replaces_the_links_and_the_answer_names_its_assumptions(client, drive):
    drive()
    text, refused = client.get(f"/sizing/?{ASKED}").text, client.get("/sizing/?reads=much").text
    (answers,) = re.findall(r'data-answers="([^"]*)"', text)
    assert {"#skip", "#jump"} <= set(answers.split(", "))
    assert all(part in page for page in (text, refused) for part in ('<span id="skip">', 'id="jump"'))
    for name in re.findall(r'<a href="#field-(\w+)">', text.partition('id="answer"')[2]):
        assert f'id="field-{name}"' in text
    assert '<a href="#field-defrag">defrag threshold ' in text
    assert '<a href="#field-object">object ' in text
    assert '<a href="#field-data">data, one copy ' in text
    assert '<a href="#field-reads">' not in text


def test_every_column_is_in_a_group_that_a_phone_can_choose(client, drive, instance):
    drive()
    instance()
    for kind, columns in (("drives", 12), ("instances", 5)):
        text = client.get(f"/sizing/?{ASKED}&of={kind}").text
        (table,) = re.findall(r'<table class="sizes">.*?</table>', text, re.DOTALL)
        groups = re.findall(r'<th scope="col"(?: class="(?:n ?)?(?:g-(\w+))?")?', table)
        choices = re.findall(r'<input type="radio" name="columns" id="show-(\w+)" class="c-\1"', text)
        assert (len(groups), groups[:2]) == (columns, ["", ""])  # the name and the number always stay
        assert set(groups[2:]) == set(choices)
        assert re.findall(r'<td class="(?:n ?)?(?:g-(\w+))?"', table) == groups[1:]


def test_the_defaults_of_empty_fields_are_stated(client):
    said = "empty, so 500,000 is used"
    assert client.get("/sizing/?reads=+&writes=5").text.count("empty, so ") == 1
    assert said in client.get("/sizing/?reads=&writes=x").text
    assert said not in client.get("/sizing/?reads=500000").text
    assert "empty, so " not in client.get("/sizing/").text


def test_a_drive_over_the_limits_is_not_an_answer_until_they_are_relaxed(client, drive):
    slow = drive(shares={1000: "12.47", 8000: "0.10", 64000: "0.00"})
    assert slow.slug not in answer(client)
    assert slow.slug in answer(client, f"{ASKED}&limit_1ms=12.47")


@pytest.mark.parametrize("visibility", [Visibility.UNREVIEWED, Visibility.WITHDRAWN])
def test_a_run_that_is_not_current_is_not_an_answer(client, make_published_run, visibility):
    make_published_run(visibility=visibility)
    assert answer(client) == {}
    assert "No drive has a result within these limits" in client.get("/sizing/").text


def test_historical_results_and_instances_are_not_an_answer(client, drive):
    drive(historical=True)
    drive(category="cloud")
    assert answer(client) == {}


@pytest.fixture
def instance(make_product, make_published_run):
    """Return a function that makes a published run of a cloud instance."""

    def make(product=None, tps=200_000, device_count=2, device_gb=900, **fields):
        product = product or make_product(category="cloud", capacity_gb=None)
        return make_published_run(
            product=product, tps=Decimal(tps), device_count=device_count, device_gb=device_gb, **fields
        )

    return make


def test_instances_are_sized_by_the_speed_and_the_storage_of_all_their_devices(client, drive, instance):
    drive()
    run = instance()
    rows = client.get(f"/sizing/?{ASKED.replace('per_node=1', 'per_node=7')}&of=instances&format=json").json()["rows"]
    # 600,000 tps and 40 TB: 3 instances by throughput, 23 of 1.8 TB by capacity; each is a node.
    assert [(row["product"], row["drives"], row["nodes"], row["by_throughput"]) for row in rows] == [
        (run.product.slug, 23, 23, 3)
    ]
    assert (rows[0]["capacity_gb"], rows[0]["by_endurance"], rows[0]["needed_dwpd"]) == (1800, None, None)
    text = client.get(f"/sizing/?{ASKED}&of=instances").text
    assert "Fewest instances: 23 x Exemplar " in text
    assert "all devices of an instance together" in text


def test_each_set_of_devices_of_an_instance_is_a_row_with_its_fastest_run(client, instance):
    one = instance(tps=100_000, device_count=1)
    slower, faster = instance(one.product, tps=150_000), instance(one.product, tps=190_000)
    sole = instance(one.product, sole_tenant=True)
    rows = client.get(f"/sizing/?{ASKED}&of=instances&format=json").json()["rows"]
    assert [row["basis"] for row in rows] == [f"run {run.public_id}" for run in (sole, faster, one)]
    assert slower.public_id not in str(rows)
    assert [row["name"].endswith("sole tenant") for row in rows] == [True, False, False]
    steps = client.get(f"/sizing/?{ASKED}&of=instances&drive={one.public_id}").text
    assert f"Run {one.public_id}, published" in steps


def test_an_instance_is_sized_by_a_run_that_can_be_ranked_if_it_has_one(client, instance):
    unranked = instance(tps=900_000, compress_pct=50)
    ranked = instance(unranked.product, tps=100_000)
    rows = client.get(f"/sizing/?{ASKED}&of=instances&format=json").json()["rows"]
    assert [row["basis"] for row in rows] == [f"run {ranked.public_id}"]


def test_the_heads_of_groups_span_all_columns(client, drive, instance):
    drive()
    instance()
    for kind in ("drives", "instances"):
        text = client.get(f"/sizing/?{ASKED}&of={kind}").text
        (table,) = re.findall(r'<table class="sizes">.*?</table>', text, re.DOTALL)
        heads = table.split("</thead>")[0].count('<th scope="col"')
        assert re.findall(r'<tr class="group"><th colspan="(\d+)" scope="rowgroup">', table) == [str(heads)]


def test_an_instance_without_its_storage_is_not_an_answer(client, instance):
    instance(device_gb=None)
    assert client.get(f"/sizing/?{ASKED}&of=instances&format=json").json()["rows"] == []
    assert "No instance has a result within these limits" in client.get(f"/sizing/?{ASKED}&of=instances").text


def test_the_tps_of_several_devices_is_shared_among_them(client, drive, make_published_run, make_product):
    product = make_product(capacity_gb=100_000)
    make_published_run(product=product, tps=Decimal(400_000), device_count=4)
    assert answer(client)[product.slug]["by_throughput"] == 6


def test_a_publication_without_a_number_of_drives_is_assumed_to_use_one(client, make_product, make_published_run):
    assumed, stated = make_product(capacity_gb=100_000), make_product(capacity_gb=100_000)
    make_published_run(product=assumed)
    make_published_run(product=stated, device_count=1)
    found = answer(client)
    assert found[assumed.slug]["basis"].endswith(
        ", taken as the speed of one drive, because the publication states no number of drives"
    )
    assert "assumed" not in found[stated.slug]["basis"]
    text = client.get(f"/sizing/?{ASKED}&drive={assumed.slug}").text
    assert (
        text.count("taken as the speed of one drive, because the publication states no number of drives") == 3
    )  # of the reads, of the writes, and over the steps


def test_a_log_without_devices_is_not_an_answer(client, make_product, make_log_run, make_published_run):
    product = make_product(capacity_gb=100_000)
    limits = "limit_1ms=100&limit_8ms=100&limit_64ms=100"
    run = make_log_run(product=product, tps=Decimal(900_000), device_count=None)
    run.verdicts.update(outcome="pass")
    assert answer(client, f"{ASKED}&{limits}") == {}
    make_published_run(product=product, tps=Decimal(100_000))
    assert answer(client, f"{ASKED}&{limits}")[product.slug]["tested_tps"] == "100000"
    run.device_count = 3
    run.save()
    assert answer(client, f"{ASKED}&{limits}")[product.slug]["tested_tps"] == "300000"


def test_the_rows_show_the_statistic_of_their_load(client, drive, certify, make_log_run):
    published, certified = drive(), drive()
    certify(certified, 100)
    log = make_log_run(tps=Decimal(900_000), device_count=1)
    log.verdicts.update(outcome="pass")
    found = answer(client, f"{ASKED}&limit_1ms=100&limit_8ms=100&limit_64ms=100")
    assert found[published.slug]["statistic"] == "steady-as-published"
    assert found[certified.slug]["statistic"] == "worst-slice"
    assert found[log.product.slug]["statistic"] == "worst-slice"


@pytest.fixture
def certify(make_published_run):
    """Return a function that certifies a product by a load test with these shares and a stress test that fails."""

    def make(product, nx_load, shares=None):
        certificate = Certificate.objects.create(
            product=product, profile=Profile.objects.get(), device_count=1, nx_load=nx_load, exact_nx=str(nx_load),
            firmware="F1", ground=f"g{nx_load}", document={"present": [], "reasons": []},
        )  # fmt: skip
        for load, over in ((nx_load, shares), (2 * nx_load, {1000: "50.00"})):
            run = make_published_run(over, product, tps=Decimal(3000 * load), nx_load=load, device_count=1)
            CertificateRun.objects.create(certificate=certificate, run=run)
        return certificate

    return make


def test_a_current_certificate_precedes_a_run(client, drive, certify):
    product = drive(tps=1_000_000, capacity_gb=100_000)
    certificate = certify(product, 50)
    found = answer(client)[product.slug]
    assert (found["by_throughput"], found["tier"], found["basis"]) == (
        4,
        "certified",
        f"certificate {certificate.public_id}",
    )
    Certificate.objects.update(state="withdrawn", withdrawn_at=timezone.now())
    assert answer(client)[product.slug]["by_throughput"] == 1


def test_a_certificate_counts_only_if_its_load_test_meets_the_limits_of_the_reader(client, drive, certify):
    product = drive(tps=150_000, capacity_gb=100_000, shares={1000: "0.10"})
    lower, higher = certify(product, 60, {1000: "1.00"}), certify(product, 100, {1000: "4.00"})
    basis = {limit: answer(client, f"{ASKED}&limit_1ms={limit}")[product.slug]["basis"] for limit in ("5", "2", "0.5")}
    assert basis["5"] == f"certificate {higher.public_id}"
    assert basis["2"] == f"certificate {lower.public_id}"
    assert basis["0.5"].startswith("run ")
    assert answer(client, f"{ASKED}&limit_1ms=0.5")[product.slug]["tested_tps"] == "150000"


@pytest.mark.parametrize(
    ("stated", "drives", "spare"),
    [
        ({"over_provisioned_to_gb": 4000}, 10, ", over-provisioned to 4\N{NO-BREAK SPACE}TB"),
        ({"over_provisioned_to_gb": 9000}, 8, ""),
        ({"over_provisioning_pct": Decimal(10)}, 9, ", over-provisioned to 4.545\N{NO-BREAK SPACE}TB"),
        ({"over_provisioning_pct": Decimal(0)}, 8, ""),
        (
            {"over_provisioned_to_gb": 4800, "over_provisioning_pct": Decimal(25)},
            10,
            ", over-provisioned to 4\N{NO-BREAK SPACE}TB",
        ),
    ],
)
def test_a_drive_counts_with_the_capacity_that_its_test_used(client, drive, certify, stated, drives, spare):
    """40 TB on drives of 5 TB."""
    product = drive(tps=10**6, capacity_gb=5000, dwpd="100")
    product.runs.update(device_count=1, **stated)
    found = answer(client)[product.slug]
    assert (found["by_capacity"], found["capacity_gb"]) == (drives, 5000)
    assert found["basis"].partition(",")[2] == spare.removeprefix(",")
    assert found["by_endurance"] == 1  # the rating refers to the capacity as sold
    certificate = certify(product, 300)
    assert answer(client)[product.slug]["basis"] == f"certificate {certificate.public_id}"
    certificate.runs.filter(nx_load=300).update(**stated)
    found = answer(client)[product.slug]
    assert (found["by_capacity"], found["basis"]) == (drives, f"certificate {certificate.public_id}{spare}")


def test_a_margin_hides_no_drive_at_an_untested_load(client, drive):
    product = drive(dwpd=None)
    assert list(answer(client, f"{ASKED}&object=4096&margin=20")) == [product.slug]
    assert list(answer(client, f"{ASKED}&margin=20")) == []


def test_exported_ratings_have_no_separators(client, drive):
    product = drive(capacity_gb=1, tps=10**9, dwpd="1234")
    found = answer(client)[product.slug]
    assert found["rated_dwpd"] == "1234"
    assert "," not in found["needed_dwpd"]


def test_larger_objects_are_untested_and_not_scaled(client, drive):
    product = drive()
    row = answer(client, f"{ASKED}&object=4096")[product.slug]
    assert (row["drives"], row["by_throughput"], row["binding"]) == (None, None, "untested at this workload")
    assert (row["mix"], row["by_capacity"] is not None) == ("untested", True)
    assert "No drive was tested at this workload" in client.get(f"/sizing/?{ASKED}&object=4096").text


def changed_query(changed):
    name = changed.partition("=")[0]
    return "&".join([*(part for part in ASKED.split("&") if not part.startswith(f"{name}=")), changed])


@pytest.mark.parametrize(
    ("changed", "mix", "by_throughput", "limited_by"),
    [
        ("writes=100000", "tested", 3, "throughput"),
        ("writes=100001", "tested", 4, "throughput"),
        ("writes=200000", "bound", 6, "throughput: writes"),
        ("reads=600000", "bound", 5, "throughput: reads"),
        ("copies=3", "bound", 5, "throughput: writes"),
        ("reads=0", "bound", 3, "throughput: writes"),
        ("writes=0", "bound", 3, "throughput: reads"),
        ("object=512", "bound", 3, "throughput: reads"),
    ],
)
def test_another_mix_is_a_bound_by_the_tested_reads_and_writes(client, drive, changed, mix, by_throughput, limited_by):
    """The drive was tested at 133,333 reads/s and 66,667 writes/s."""
    product = drive(capacity_gb=100_000, dwpd="100")
    query = changed_query(changed)
    row = answer(client, query)[product.slug]
    assert (row["mix"], row["by_throughput"], row["drives"]) == (mix, by_throughput, by_throughput)
    text = client.get(f"/sizing/?{query}").text
    assert f"in {by_throughput} nodes, limited by {limited_by}." in text
    assert ("Your mix was not tested: " in text) == (mix == "bound")
    assert f'<span class="tag">{"upper bound" if mix == "bound" else "tested mix"}</span>' in text


def test_five_million_reads_and_one_million_writes_have_a_readable_answer(client, catalogue):
    text = client.get("/sizing/?reads=5000000&writes=1000000").text
    said = html.unescape(re.sub(r"<[^>]+>", "", text.split('id="said"')[1].split(">", 1)[1].split("</p>")[0]))
    assert re.match(r"Fewest drives: \d+ x .+ in \d+ nodes, limited by \w+", said), said
    remarks = html.unescape(re.search(r'<p id="remarks">(.*?)</p>', text)[1])
    assert "Your mix was not tested: 71.4 % of the requests to your drives are reads" in remarks
    assert "fewer may suffice" in remarks


UNTESTED = "reads=300000&writes=100000&object=4096&data=40&copies=2&per_node=1&spare=0"


def test_an_untested_load_is_ordered_by_its_minimum_of_drives(client, drive):
    quick = drive(tps=2_000_000, capacity_gb=1_600)
    large = drive(tps=1_000_000, capacity_gb=12_800)
    found = answer(client, UNTESTED)
    # 40 TB x 2 / 50 % = 160 TB
    assert [(slug, row["at_least_drives"], row["drives"]) for slug, row in found.items()] == [
        (large.slug, 13, None),
        (quick.slug, 100, None),
    ]
    text = client.get(f"/sizing/?{UNTESTED}").text
    assert "For capacity and endurance alone you need at least 13 x" in text
    assert "Every step: Exemplar" in text
    assert text.index("12.8\N{NO-BREAK SPACE}TB") < text.index("1.6\N{NO-BREAK SPACE}TB")
    assert "13 nodes, 0 of them spare" in text


def test_a_drive_of_unknown_endurance_comes_last_without_a_sentence(client, drive):
    rated = drive(tps=2_000_000, capacity_gb=1_600)
    drive(tps=1_000_000, capacity_gb=12_800, dwpd=None)
    assert next(iter(answer(client, UNTESTED))) == rated.slug
    assert "For capacity and endurance alone you need at least 100 x" in client.get(f"/sizing/?{UNTESTED}").text
    Product.objects.filter(pk=rated.pk).update(historical=True)
    assert "For capacity alone you need at least 13 x" in client.get(f"/sizing/?{UNTESTED}").text


def test_an_untested_load_is_not_a_limit(client, drive):
    drive()
    assert "throughput binds" not in client.get("/sizing/?reads=1000&writes=0&object=900&data=0&copies=1").text


def test_a_tested_load_has_no_minimum(client, drive):
    product = drive()
    assert answer(client)[product.slug]["at_least_drives"] is None
    text = client.get(f"/sizing/?{ASKED}").text
    assert "at least <b>" not in text
    assert "Tested: " not in text


def links(text):
    (nearest,) = re.findall(r"<p>Each of these tested workloads .*? entered: (.*?)</p>", text)
    return [html.unescape(found) for found in re.findall(r'<a href="(\?[^"]*)"', nearest)]


@pytest.mark.parametrize("query", [UNTESTED, "reads=300000&object=4096", "reads=0&writes=50000&copies=3&limit_1ms=7"])
def test_the_tested_mixes_are_offered_as_links(client, drive, query):
    product = drive(capacity_gb=20_000)
    offered = links(client.get(f"/sizing/?{query}").text)
    assert offered
    for address in offered:
        found = client.get(f"/sizing/{address}&format=json").json()["rows"]
        assert [(row["product"], row["drives"] is not None) for row in found] == [(product.slug, True)]
        assert "price-" not in address


def test_a_link_to_a_tested_mix_keeps_the_query_without_empty_fields(client, drive):
    drive()
    (address, _) = links(client.get("/sizing/?reads=300000&writes=100000&life=3&copies=").text)
    assert address == "?reads=300000&writes=73900&life=3&object=1536"


def test_a_tested_mix_is_shown_in_numbers(client, drive):
    drive()
    text = client.get(f"/sizing/?{UNTESTED}").text
    assert "300,000 reads and 73,900 writes per second at 2 copies, objects of 1,536 bytes</a>" in text


@pytest.mark.parametrize(("size", "is_said"), [("1024", False), ("1025", True), ("1500", True), ("1536", False)])
def test_an_object_that_reads_like_the_tested_one_is_answered_with_a_note(client, drive, size, is_said):
    product = drive()
    assert (answer(client, f"{ASKED}&object={size}")[product.slug]["mix"] == "bound") == (size == "1024")
    said = (
        "are read as 3 sectors of 512 bytes, as the tested objects of 1,536 bytes are"
        in client.get(f"/sizing/?{ASKED}&object={size}").text
    )
    assert said == is_said


def test_every_step_is_shown_with_its_source(client, drive):
    product = drive(capacity_gb=6400)
    text = client.get(f"/sizing/?{ASKED}&drive={product.slug}").text
    assert "100,000 x 2 copies; reads go to one copy" in text
    assert "53.1 TB / 6.4 TB x 5 years / 5 years warranty / 3 DWPD, rounded up" in text
    assert "endurance rating from the catalogue, not verified" in text
    assert "data sheet" not in text
    assert "5 years assumed" in text
    assumed = "assumed 2:1, because the source does not report the mix"
    assert f"400,000/s / 133,333/s of one, {assumed}; rounded up" in text
    assert f"200,000/s / 66,667/s of one, {assumed}; rounded up" in text
    assert "are reads, assumed 67 ± 1 %, because the source does not report the mix; objects" in text


def test_the_steps_of_a_result_with_a_reported_mix_assume_nothing(client, drive):
    product = drive(capacity_gb=6400)
    product.runs.update(reads_per_s=Decimal(150_000), writes_per_s=Decimal(50_000))
    text = client.get(f"/sizing/?{ASKED}&drive={product.slug}").text
    assert "400,000/s / 150,000/s of one, as tested; rounded up" in text
    assert "are reads, tested with 67 ± 1 %; objects" in text


def test_a_missing_rating_is_reported(client, drive):
    product = drive(dwpd=None)
    assert answer(client)[product.slug]["by_endurance"] is None
    assert "rating not reported" in client.get(f"/sizing/?{ASKED}").text


@pytest.mark.parametrize(
    "query",
    [
        "copies=0",
        "usable=0",
        "usable=101",
        "defrag=100",
        "warranty=0",
        "reads=lots",
        "object=1.5",
        "limit_1ms=200",
        "reads=1e-999999999",
        "writes=1e-400",
        "price-x=1e-999999999",
        "price-x=-1",
        "sort=dearest",
        "of=servers",
        "margin=101",
        "min_tb=x",
        "vendor=nobody",
        "colour=red",
        "drive=%00",
    ],
)
def test_an_invalid_parameter_is_named(client, query):
    response = client.get(f"/sizing/?{query}")
    assert response.status_code == 400
    assert query.partition("=")[0] in response.text


@pytest.mark.parametrize(
    ("query", "label"),
    [
        ("price-no-such-drive=5", "Price of one no-such-drive"),
        ("drive=no-such-drive", "Steps of another drive or instance"),
    ],
)
def test_an_unknown_drive_is_named(client, query, label):
    response = client.get(f"/sizing/?{query}")
    said = f"{label}: expected a drive of the register"
    assert (response.status_code, said in response.text) == (400, True)


def test_a_drive_over_the_limits_keeps_its_price(client, drive):
    product = drive(shares={1000: "4.00"}, model="EX_9", slug="ex_9")
    query = f"{ASKED}&limit_1ms=3&price-{product.slug}=5&drive={product.slug}"
    assert client.get(f"/sizing/?{query}").status_code == 200


@pytest.mark.parametrize(
    ("typed", "shown"), [("5000000", "5,000,000"), ("5,000,000", "5,000,000"), ("5M", "5M"), ("900", "900")]
)
def test_a_number_is_shown_with_separators_of_thousands(client, drive, typed, shown):
    drive()
    response = client.get("/sizing/", {"reads": typed})
    assert response.status_code == 200
    assert f'name="reads" value="{shown}"' in response.text
    assert 'name="writes" value="125,000"' in response.text


@pytest.mark.parametrize(
    ("reads", "load", "drives"), [(300_000, "", ""), (330_000, "82.5", "4"), (400_000, "100", "4")]
)
def test_an_answer_without_a_reserve_names_the_load_and_the_size_that_has_one(client, drive, reads, load, drives):
    product = drive(capacity_gb=100_000)
    query = f"reads={reads}&writes=1000&copies=1&per_node=1&spare=0&data=1"
    assert answer(client, query)[product.slug]["drives"] == 3
    text = client.get(f"/sizing/?{query}").text.replace(NB, " ")
    remarks = html.unescape(re.search(r'<p id="remarks">(.*?)</p>', text)[1])
    said = f"Each working drive then runs at {load} % of its tested speed. To keep 20 % in reserve, use {drives} x "
    assert (said in remarks, "in reserve" in remarks) == (bool(load), bool(load))
    assert "in reserve" not in client.get(f"/sizing/?{query}&use=80").text


def test_an_error_in_one_field_keeps_the_typed_values(client, drive):
    product = drive()
    query = f"reads=100;000&writes=7000&limit_1ms=3&price-{product.slug}=1200&sort=cheapest"
    response = client.get(f"/sizing/?{query}")
    assert response.status_code == 400
    assert response.text.count('aria-invalid="true"') == 1
    assert 'name="reads" value="100;000" aria-invalid="true"><span class="wrong">expected a number' in response.text
    for kept in ('name="writes" value="7,000"', 'name="limit_1ms" value="3"', 'value="1200"', 'cheapest" selected'):
        assert kept in response.text, kept


def test_the_error_page_shows_typed_prices_and_the_drive_of_the_steps(client, drive):
    product = drive()
    text = client.get(f"/sizing/?reads=x&price-{product.slug}=1200&drive={product.slug}").text
    before, answer = text.split('<div id="answer">')
    assert f'name="price-{product.slug}"' not in before
    assert answer.count(f'name="price-{product.slug}" value="1200"') == 1
    assert f'<input form="sizing" type="hidden" name="drive" value="{product.slug}">' in answer


@pytest.mark.parametrize(("name", "text"), [("limit_8ms", "200"), ("price-x", "-1"), ("copies", "0")])
def test_the_invalid_field_is_marked(client, name, text):
    shown = client.get(f"/sizing/?{name}={text}").text
    assert f'name="{name}" value="{text}" aria-invalid="true"' in shown
    assert shown.count("aria-invalid") == 1


def test_an_error_in_a_file_request_is_not_answered_with_a_form(client):
    answer = client.get("/sizing/?reads=lots&format=csv")
    assert (answer.status_code, 'id="sizing"' in answer.text) == (400, False)


def test_empty_prices_are_not_kept_in_the_address(client, drive):
    one, two = drive(), drive()
    answer = client.get(f"/sizing/?reads=1000&price-{one.slug}=&price-{two.slug}=5")
    assert (answer.status_code, answer["Location"]) == (302, f"?reads=1000&price-{two.slug}=5")
    assert client.get(f"/sizing/{answer['Location']}").status_code == 200


def test_blanks_can_separate_thousands(client, drive):
    product = drive(tps=100_000, capacity_gb=100_000)
    spaced = ASKED.replace("400000", "400%20000").replace("100000", "100%C2%A0000")
    assert answer(client, spaced)[product.slug]["drives"] == 6


def test_the_lowest_possible_load_is_answered(client, drive):
    drive()
    assert client.get("/sizing/?reads=0.000001&writes=0.000001&data=0.000001").status_code == 200


def test_zero_is_accepted_where_it_is_allowed(client, drive):
    drive()
    response = client.get("/sizing/?spare=0&defrag=0&reads=0&writes=0&data=0")
    assert response.status_code == 200
    assert 'name="spare" value="0"' in response.text


def test_the_number_of_queries_does_not_grow_with_the_drives(drive, count_queries):
    drive()
    few = count_queries("/sizing/")
    for _ in range(50):
        drive()
    assert count_queries("/sizing/") == few


def test_only_the_first_of_very_many_drives_are_shown_and_the_file_has_all(client, drive, monkeypatch):
    monkeypatch.setattr(page, "SHOWN_ROWS", 2)
    for number in range(3):
        drive(capacity_gb=1000 * (number + 1))
    text = client.get("/sizing/").text
    assert "The table shows the first 2 of 3 drives with a result within the limits, historical drives" in text
    assert text.count('data-shows="field"') == 2
    assert "</b> 3 drives." in text
    assert len(answer(client)) == 3


def test_the_published_catalogue_is_sized(client, catalogue):
    found = answer(client, "")
    assert len(found) > 30
    assert all(row["drives"] for row in found.values())


def test_a_high_use_of_the_rating_is_remarked_in_the_row(client, drive):
    narrow, wide = drive(tps=10**6, capacity_gb=20_000, dwpd="1", model="NARROW"), drive(capacity_gb=20_000, dwpd="30")
    found = answer(client)
    # 53.08416 TB a day on 3 drives of 20 TB
    assert (found[narrow.slug]["drives"], found[narrow.slug]["endurance_margin_pct"]) == (3, "11.5")
    text = client.get(f"/sizing/?{ASKED}").text
    remarks = re.findall(r'<span class="tag">([^<]* margin<span class="wide-only">: [^<]*)</span>', text)
    assert [strip_tags(html.unescape(remark)).replace("\N{NO-BREAK SPACE}", " ") for remark in remarks] == [
        "11.5 % margin: needs 0.885 of 1 DWPD"
    ]
    assert found[wide.slug]["endurance_margin_pct"] == "97.1"


def test_restrictions_leave_drives_out_and_count_them(client, drive):
    small = drive(capacity_gb=1_600, vendor="Western Digital", dwpd="30")
    large = drive(capacity_gb=6_400, vendor="Micron", dwpd="1")
    assert list(answer(client, f"{ASKED}&vendor=western-digital")) == [small.slug]
    assert list(answer(client, f"{ASKED}&min_tb=6.597")) == [large.slug]
    assert list(answer(client, f"{ASKED}&min_tb=6.598")) == []
    assert list(answer(client, f"{ASKED}&max_tb=1.554")) == [small.slug]
    assert list(answer(client, f"{ASKED}&max_tb=1.553")) == []
    margins = {slug: row["endurance_margin_pct"] for slug, row in answer(client).items()}
    assert list(answer(client, f"{ASKED}&margin=50")) == [small.slug], margins
    text = client.get(f"/sizing/?{ASKED}&vendor=micron&limit_1ms=4.5").text
    assert "1 hidden by your restrictions." in text
    assert '<option value="micron" selected>Micron</option>' in text
    (address,) = re.findall(r'<a href="([^"]+)">Show them</a>', text)
    assert "vendor" not in address
    assert len(client.get(f"/sizing/{html.unescape(address)}&format=json").json()["rows"]) == 2


def test_a_margin_that_is_not_known_is_not_large_enough(client, drive):
    drive(dwpd=None)
    assert answer(client, f"{ASKED}&margin=0") == {}
    text = client.get(f"/sizing/?{ASKED}&margin=0").text
    assert "Your restrictions leave out all 1 results." in text
    assert "Remove the restrictions" in text


def test_results_are_ranked_within_their_comparison_group(client, drive, make_product, make_published_run):
    product = {version: make_product(capacity_gb=100_000) for version in ("6.1", "6.4", "5.2", "")}
    for tps, (version, each) in enumerate(product.items(), 3):
        make_published_run(product=each, tps=Decimal(tps * 100_000), tool_version=version)
    packed = make_product(capacity_gb=100_000)
    make_published_run(product=packed, tps=Decimal(10**7), tool_version="6.1", compress_pct=50)
    rows = client.get(f"/sizing/?{ASKED}&format=json").json()["rows"]
    service, queue = "steady-as-published.service.1", "steady-as-published.queue-and-service.1"
    assert [(row["product"], row["group"]) for row in rows][:3] == [
        (product["6.4"].slug, service),
        (product["6.1"].slug, service),
        (product["5.2"].slug, queue),
    ]
    assert {row["product"] for row in rows[3:]} == {product[""].slug, packed.slug}
    text = client.get(f"/sizing/?{ASKED}").text
    bands = re.findall(r'<tr class="group"><th[^>]*>(.*?)</th></tr>', text, re.DOTALL)
    assert [("not ranked" in band, "ranked among each other" in band) for band in bands] == [
        (False, True),
        (False, True),
        (True, False),
        (True, False),
    ]
    assert (
        "The ranking has 2 drives of one comparison group (ACT 6.x: time in the drive, as published, 1 device)." in text
    )
    assert f"Fewest drives: 2 x Exemplar {product['6.4'].model} 100" in text


def test_a_drive_is_sized_by_a_run_that_can_be_ranked_if_it_has_one(client, make_product, make_published_run):
    product = make_product(capacity_gb=100_000)
    make_published_run(product=product, tps=Decimal(900_000), tool_version="6.1", compress_pct=50)
    ranked = make_published_run(product=product, tps=Decimal(100_000), tool_version="6.1")
    assert answer(client)[product.slug]["basis"].startswith(f"run {ranked.public_id}")


def test_a_log_is_sized_by_its_own_reads_and_writes(client, make_product, make_log_run):
    product = make_product(capacity_gb=100_000)
    rates = {"reads_per_s": Decimal(136_000), "writes_per_s": Decimal(64_000)}
    run = make_log_run(product=product, tps=Decimal(200_000), device_count=1, **rates)
    run.verdicts.update(outcome="pass")
    query = f"{ASKED}&limit_1ms=100&limit_8ms=100&limit_64ms=100"
    assert answer(client, query)[product.slug]["by_throughput"] == 4  # 200,000 writes / 64,000


@pytest.mark.parametrize(("use", "drives"), [("100", 3), ("75", 4), ("74.999999", 5)])
def test_headroom_needs_more_drives_and_is_exported(client, drive, use, drives):
    product = drive(capacity_gb=100_000)
    found = answer(client, f"{ASKED}&use={use}")[product.slug]
    assert (found["by_throughput"], found["use_pct"]) == (drives, use if use != "74.999999" else "75")


def test_headroom_is_stated_in_the_answer_and_its_steps(client, drive):
    drive(capacity_gb=100_000)
    whole, used = (client.get(f"/sizing/?{ASKED}{more}").text.replace(NB, " ") for more in ("", "&use=75"))
    assert "use at most, of the tested speed 100 %</a>" in whole
    assert "is loaded with at most" not in whole
    assert "Each drive is loaded with at most 75 % of its tested speed." in used
    assert (
        "400,000/s / (133,333/s of one, assumed 2:1, because the source does not report the mix, x 75 % used)" in used
    )


@pytest.mark.parametrize(("use", "status"), [("1", 200), ("0.9", 400), ("100", 200), ("100.1", 400)])
def test_headroom_is_from_1_to_100_percent(client, drive, use, status):
    assert client.get(f"/sizing/?use={use}").status_code == status
