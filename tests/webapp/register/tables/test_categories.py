"""The tables of drives against the published page."""

import pytest

from results.models import Visibility
from tests.webapp.register.pages import read_rows, read_titles, shown_html

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("category", "number", "hidden"),
    [
        ("nvme-3dxpoint", 4, 0),
        ("nvme-flash", 30, 6),
        ("sata-sas-flash", 2, 6),
        ("m2-flash", 1, 0),
        ("networked", 4, 0),
        ("cloud", 40, 10),
    ],
)
def test_a_table_has_every_current_row_and_counts_the_hidden_ones(client, catalogue, category, number, hidden):
    response = client.get(f"/drives/{category}/")
    assert len(read_rows(response)) == number
    assert f"{number} of {number + hidden} shown." in response.text
    assert (f"{hidden} hidden: historical." in response.text) is bool(hidden)


def test_the_fastest_flash_drive_comes_first(client, catalogue):
    first = read_rows(client.get("/drives/nvme-flash/"))[0]
    assert first[:7] == ["SanDisk, 6.4 TB DC SN861", "6.4 TB", "1,728,000", "0.56", "0.00", "0.00", "3"]
    assert first[7:11] == ["216,000", "270,000", "CP 100 %", "6.4"]
    assert first[11].startswith("published, maker: run r-")


def test_equal_speeds_are_ordered_by_name(client, catalogue):
    drives = [row[0] for row in read_rows(client.get("/drives/nvme-flash/")) if row[2] == "480,000"]
    assert drives == ["Intel, 7.68 TB P5510", "Kioxia, 3.2 TB CM6-v"]


def test_3d_xpoint_adds_pcie_generation_and_two_thresholds(client, catalogue):
    rows = read_rows(client.get("/drives/nvme-3dxpoint/"))
    assert rows[0][:7] == ["Intel, 1.6 TB P5800X", "1.6 TB", "4.0", "2,010,000", "11.11", "0.29", "0.00"]
    assert rows[1][4] == "-not reported"


def test_networked_storage_adds_device_and_protocol(client, catalogue):
    row = read_rows(client.get("/drives/networked/"))[1]
    assert row[:7] == ["Drivescale Composer", "300,000", "3.85", "0.01", "0.00", "HGST Ultrastar SN200 3.2 TB", "iSCSI"]


def test_cloud_instances_of_all_providers_are_sorted_by_speed_with_tenancy_and_storage(client, catalogue):
    response = client.get("/drives/cloud/")
    titles = read_titles(response)
    assert titles[0].startswith("ACT 6.x, as published. 38 results, ranked: shares count only the drive's time.")
    assert titles[1].startswith("ACT up to 5.3, as published. 1 result, ranked separately")
    assert titles[2].startswith("ACT version or number of devices not reported, as published. 1 result, not ranked")
    assert read_rows(response)[0][:4] == ["GCP n2-standard-80, 24 x 375 GB", "yes", "24 x 375 GB", "6,408,000"]
    assert read_rows(response)[7][:4] == ["AWS c5d.24xlarge, 4 x 900 GB", "no", "4 x 900 GB", "564,000"]
    speeds = [int(row[3].replace(",", "")) for row in read_rows(response)[:38]]
    assert speeds == sorted(speeds, reverse=True)


def test_rows_are_in_bands_of_results_that_compare(client, catalogue):
    titles = read_titles(client.get("/drives/nvme-flash/"))
    assert [title.split(", as published. ")[0] for title in titles] == [
        "ACT 6.x",
        "ACT up to 5.3",
        "Compressible data",
    ]
    assert titles[0].endswith(
        "12 results, ranked: shares count only the drive's time. Shares are steady-state values, not the worst hour."
    )
    assert titles[1].endswith("16 results, ranked separately: their shares also count waiting in the queue.")
    assert titles[2].endswith("2 results, not ranked: a drive that compresses data writes less.")


def test_results_without_a_number_of_devices_are_not_ranked(client, catalogue):
    response = client.get("/drives/networked/")
    assert [title.split(", as")[0] for title in read_titles(response)] == [
        "ACT version or number of devices not reported"
    ]
    assert (
        "4 results are within the limits, but they are not ranked, because the number of devices is not reported. A "
        "result is ranked if its data was not compressible and it reports speed, version of ACT and number of devices. "
        "A published result of a drive counts as one device."
    ) in response.text


def test_one_result_without_a_rank_is_named_with_the_reason(client, catalogue):
    text = client.get("/drives/m2-flash/").text.replace("\N{NO-BREAK SPACE}", " ")
    reason = "it is not ranked, because the version of ACT is not reported."
    assert f"LiteOn EP1-KB480 480 GB is within the limits, but {reason}" in text
    own = client.get("/drives/m2-flash/?limit_1ms=4.5").text.replace("\N{NO-BREAK SPACE}", " ")
    assert f"LiteOn EP1-KB480 480 GB is within your limits, but {reason}" in own


def test_a_measurement_over_a_limit_is_marked(client, catalogue):
    response = client.get("/drives/cloud/")
    row = next(row for row in read_rows(response) if "12.47" in row[5])
    assert row[5] == "12.47 over the limit"
    assert '<span class="over">12.47</span>' in response.text
    assert shown_html(response).count('class="beyond"') == 5


def test_a_share_equal_to_its_limit_is_not_marked(client, catalogue):
    row = next(row for row in read_rows(client.get("/drives/nvme-flash/")) if row[2] == "420,000")
    assert row[3] == "5.00"


def test_printed_digits_are_kept_and_shorter_ones_are_padded(client, catalogue):
    text = client.get("/drives/nvme-flash/").text
    assert "0.005<svg" in text
    assert "0.00\u2007<svg" in text


def test_historical_rows_are_on_their_own_page_by_category(client, catalogue):
    response = client.get("/drives/historical/")
    rows = [row for row in read_rows(response) if "published" in row[-1]]
    assert len(rows) == 22
    assert [f'id="{code}"' in response.text for code in ("nvme-flash", "sata-sas-flash", "cloud")] == [True] * 3
    assert "Historical devices are no longer recommended" in response.text


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/drives/cloud/", "Read cloud results conservatively"),
        ("/drives/cloud/", "r5ad.24xlarge ran for 12 hours"),
        ("/drives/sata-sas-flash/", "set with hdparm"),
        ("/drives/nvme-flash/", "does not verify it"),
        ("/drives/nvme-3dxpoint/", "takes them as those over 1, 8 and 64 ms"),
        ("/drives/historical/", "tested without over-provisioning"),
        ("/drives/historical/", "Dell R720"),
    ],
)
def test_the_notes_of_the_source_are_shown_next_to_their_table(client, catalogue, path, sentence):
    assert sentence in client.get(path).text


def test_worst_slices_are_not_sorted_with_published_shares(client, make_published_run, make_log_run):
    make_log_run(tps=999_999)
    make_published_run(tps=1_000)
    response = client.get("/drives/nvme-flash/")
    titles = [title.partition(", ")[2].partition(".")[0] for title in read_titles(response)]
    assert titles == ["as published", "worst slice"]
    assert [row[2] for row in read_rows(response)] == ["1,000", "999,999"]


def test_an_unreviewed_run_is_in_no_table(client, make_log_run):
    make_log_run(visibility=Visibility.UNREVIEWED)
    response = client.get("/drives/nvme-flash/")
    assert read_rows(response) == []
    assert "No result matches" in response.text


def test_a_withdrawn_run_is_shown_only_on_request(client, make_published_run):
    make_published_run(visibility=Visibility.WITHDRAWN)
    page = client.get("/drives/nvme-flash/")
    assert "0 of 1 shown." in page.text
    assert "1 hidden: withdrawn." in page.text
    (row,) = read_rows(client.get("/drives/nvme-flash/?withdrawn=include"))
    assert "withdrawn" in row[0]


def test_names_with_markup_are_escaped(client, make_product, make_published_run):
    product = make_product(vendor="<b>Bold</b>", model='"><script>alert(1)</script>')
    run = make_published_run(product=product, source="<i>maker</i>")
    for path in ("/drives/nvme-flash/", f"/drive/{product.slug}/", f"/runs/{run.public_id}/", "/"):
        text = client.get(path).text
        assert "&lt;b&gt;Bold&lt;/b&gt;" in text
        assert "<script>alert" not in text
        assert "<i>maker" not in text


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/drives/tape/", "No category of drives is named tape."),
        ("/drive/no-such-drive/", "There is no drive no-such-drive."),
        ("/runs/r-nothing/", "No run is named r-nothing."),
        ("/no/such/page", "There is no page at /no/such/page."),
    ],
)
def test_an_unknown_category_is_named(client, db, path, sentence):
    response = client.get(path)
    assert response.status_code == 404
    assert sentence in response.text


def test_an_unknown_name_in_the_address_is_escaped(client, db):
    assert "&lt;b&gt;x" in client.get("/drives/<b>x/").text


@pytest.mark.parametrize("path", ["/", "/drives/nvme-flash/", "/drives/historical/", "/drives/cloud/?format=csv"])
def test_public_pages_are_the_same_for_everyone_and_cacheable(client, admin_client, catalogue, path):
    response = client.get(path)
    assert response.headers["Cache-Control"] == "public, max-age=60"
    assert "Cookie" not in response.headers.get("Vary", "")
    assert response.content == admin_client.get(path).content
    again = client.get(path, headers={"If-None-Match": response.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_pages_answer_head_and_refuse_other_methods(client, db):
    assert client.head("/drives/cloud/").status_code == 200
    assert client.post("/drives/cloud/").status_code == 405


@pytest.mark.parametrize("path", ["/", "/drives/nvme-flash/", "/drives/nvme-flash/?format=csv"])
def test_one_row_needs_as_many_queries_as_fifty(client, make_published_run, make_log_run, count_queries, path):
    make_published_run()
    make_log_run()
    one = count_queries(path)
    for _ in range(25):
        make_published_run()
        make_log_run()
    assert count_queries(path) == one


def test_one_historical_row_needs_as_many_queries_as_fifty(client, make_product, make_published_run, count_queries):
    make_published_run(product=make_product(historical=True))
    one = count_queries("/drives/historical/")
    for _ in range(49):
        make_published_run(product=make_product(historical=True))
    assert count_queries("/drives/historical/") == one
