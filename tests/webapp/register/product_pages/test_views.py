"""The page of a product: its details, and its runs by statistic."""

import re

import pytest

from results.models import Run, Visibility
from tests.webapp.register.pages import read_rows, read_titles

pytestmark = pytest.mark.django_db


def test_a_product_shows_its_details_and_runs(client, catalogue):
    response = client.get("/drive/gcp-n2-standard-80/")
    assert "8 results from publications." in response.text
    assert [row[2] for row in read_rows(response)][:2] == ["24 x 375 GB", "16 x 375 GB"]


def test_a_drive_states_that_its_endurance_is_not_verified(client, catalogue):
    text = client.get("/drive/sandisk-dc-sn861-6400gb/").text
    assert "SanDisk DC SN861 6.4\N{NO-BREAK SPACE}TB" in text
    assert "3 DWPD" in text
    assert "not verified" in text


def test_a_drive_states_how_long_its_rated_writes_last(client, catalogue):
    text = client.get("/drive/sandisk-dc-sn861-6400gb/").text
    assert "the rated writes are used up after an eighth of the warranty." in text


def test_a_drive_shows_how_its_endurance_gap_is_computed(client, catalogue):
    text = client.get("/drive/sandisk-dc-sn861-6400gb/").text.split("How this is computed")[1].split("</details>")[0]
    assert "1,728,000 tps" in text.replace("\N{NO-BREAK SPACE}", " ")
    assert text.count("<li>") == 5


def test_a_published_result_is_not_a_certificate_and_says_what_it_is(client, catalogue, make_product, make_log_run):
    text = client.get("/drive/sandisk-dc-sn861-6400gb/").text.split('<h2 id="certificates">')[1]
    assert "This drive is not certified. A certificate at load N needs a load test at N that passes" in text
    assert "they are steady-state values as the source printed them, and certify nothing" in text
    run = make_log_run(device_count=1)
    assert "and certify nothing" not in client.get(f"/drive/{run.product.slug}/").text


def test_a_historical_product_is_marked(client, catalogue):
    text = client.get("/drive/intel-p3700-400gb/").text
    assert "no longer recommended" in text
    assert "Dell R720" in text


def test_published_and_logged_runs_are_listed_separately(client, make_product, make_published_run, make_log_run):
    product = make_product()
    make_log_run(product=product)
    make_published_run(product=product)
    titles = read_titles(client.get(f"/drive/{product.slug}/"))
    assert [title.split(":")[0] for title in titles] == ["As published", "From stored logs"]


def test_a_withdrawn_run_is_struck_through_in_its_product(client, make_product, make_log_run):
    product = make_product()
    make_log_run(product=product, visibility=Visibility.WITHDRAWN)
    response = client.get(f"/drive/{product.slug}/")
    assert '<tr class="withdrawn">' in response.text
    assert "No results." in response.text
    assert "withdrawn" in read_rows(response)[0][0]


def test_a_product_without_public_runs_does_not_exist(client, make_product, make_log_run):
    product = make_product()
    make_log_run(product=product, visibility=Visibility.UNREVIEWED)
    assert client.get(f"/drive/{product.slug}/").status_code == 404


def test_an_unreviewed_run_is_not_listed_in_its_product(client, make_product, make_published_run, make_log_run):
    product = make_product()
    make_published_run(product=product)
    make_log_run(product=product, visibility=Visibility.UNREVIEWED)
    assert len(read_rows(client.get(f"/drive/{product.slug}/"))) == 1


def test_one_run_needs_as_many_queries_as_fifty(make_product, make_published_run, make_log_run, count_queries):
    product = make_product()
    make_published_run(product=product)
    make_log_run(product=product)
    one = count_queries(f"/drive/{product.slug}/")
    for _ in range(24):
        make_published_run(product=product)
        make_log_run(product=product)
    assert count_queries(f"/drive/{product.slug}/") == one


def test_the_speed_of_a_published_result_states_whose_rule_its_duration_is(client, make_product, make_published_run):
    by_rule, other = make_product(), make_product()
    make_published_run(product=by_rule)
    make_published_run(product=other, duration_s=43_200)
    texts = [client.get(f"/drive/{each.slug}/").text.replace("\N{NO-BREAK SPACE}", " ") for each in (by_rule, other)]
    reason = "The duration is assumed: the source requires it, but does not state it for this result."
    assert "tps, 24 h (assumed)</small>" in texts[0]
    assert (reason in texts[0], reason in texts[1]) == (True, False)
    assert "tps, tested for 12 h</small>" in texts[1]


def test_a_note_on_another_instance_is_not_on_the_page_of_an_instance(client, catalogue):
    note = "ran for 12 hours"
    assert note not in client.get("/drive/aws-r5d-4xlarge/").text
    assert note in client.get("/drive/aws-r5ad-24xlarge/").text


def test_a_drive_page_starts_with_links_to_its_parts(client, catalogue):
    text = client.get("/drive/sandisk-dc-sn861-6400gb/").text
    assert text.index('class="heads"') < text.index('<nav class="jump of-drive on-screen only-phone"')
    contents = text[text.index('<nav class="jump of-drive on-screen wide-only"') : text.index('<p class="crumb">')]
    anchors = re.findall('href="#([a-z]+)"', contents)
    assert anchors == ["position", "endurance", "similar", "runs", "history", "cite"]
    assert [anchor for anchor in anchors if f' id="{anchor}"' not in text] == []
    link = '<a href="/compare/?drive=sandisk-dc-sn861-6400gb" data-carries>Compare with other drives</a>'
    assert link in contents


def test_the_contents_of_a_drive_page_leave_out_missing_parts(client, make_product, make_published_run):
    product = make_product(category="cloud", capacity_gb=None, endurance_dwpd=None)
    make_published_run(product=product)
    text = client.get(f"/drive/{product.slug}/").text
    contents = text[text.index('<nav class="jump') : text.index('<p class="crumb">')]
    anchors = re.findall('href="#([a-z]+)"', contents)
    assert "similar" not in anchors
    assert [anchor for anchor in anchors if f' id="{anchor}"' not in text] == []


@pytest.mark.parametrize(
    ("share", "parameters"),
    [
        ("10.00", "reads=200000&amp;nines=1"),
        ("10.01", "reads=200000"),
        ("1.00", "reads=200000&amp;nines=2"),
        ("1.01", "reads=200000&amp;nines=1"),
        ("0.00", "reads=200000"),
    ],
)
def test_the_link_to_nines_carries_the_figures_of_the_drive(
    client, make_product, make_published_run, share, parameters
):
    product = make_product()
    make_published_run({1000: share}, product)
    assert f'href="/nines/?{parameters}">nines at scale' in client.get(f"/drive/{product.slug}/").text


def test_equal_results_have_one_order_wherever_the_database_stores_them(client, make_product, make_published_run):
    product = make_product()
    runs = [make_published_run(product=product, tps=300_000, notes="") for _ in range(3)]

    def order():
        return re.findall(r'href="/runs/(r-\w+)/', client.get(f"/drive/{product.slug}/").text)

    before = order()
    assert [run.public_id for run in runs] == list(dict.fromkeys(before))
    for each in (make_product(), product):  # the database then stores the row after those of the others
        Run.objects.filter(pk=runs[0].pk).update(product=each)
    assert order() == before
