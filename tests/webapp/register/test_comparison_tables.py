"""The sections next to the tables: capacities of one model, and cloud results."""

import pytest

pytestmark = pytest.mark.django_db


def section(text, name):
    return text.split(f'aria-label="{name}"')[1].split("</table>")[0]


def test_capacities_of_one_model_are_shown_side_by_side(client, catalogue):
    text = section(client.get("/drives/nvme-flash/").text, "One model, several capacities")
    assert text.index("Smart IOPS DataEngine") < text.index("Intel P4610")
    assert text.index(">3.2\N{NO-BREAK SPACE}TB<") < text.index(">12.8\N{NO-BREAK SPACE}TB<")
    assert "P5510" not in text


def test_a_larger_drive_that_is_not_faster_is_named(client, catalogue):
    text = section(client.get("/drives/nvme-flash/").text, "One model, several capacities").replace(
        "\N{NO-BREAK SPACE}", " "
    )
    assert "The 6.4 TB drive is as fast as the 1.6 TB drive." in text
    assert "The 7.68 TB drive is slower than the 6.4 TB drive." in text


def test_a_category_of_single_capacities_has_no_table_of_capacities(client, catalogue):
    assert "One model, several capacities" not in client.get("/drives/m2-flash/").text


def test_capacities_with_other_statistics_are_not_shown_together(
    client, make_product, make_published_run, make_log_run
):
    small, large = (make_product(model="EX", capacity_gb=size) for size in (1600, 3200))
    make_published_run(product=small)
    make_log_run(product=large)
    assert "One model, several capacities" not in client.get("/drives/nvme-flash/").text


def test_the_cautions_of_the_source_are_shown_above_the_table(client, catalogue):
    text = client.get("/drives/cloud/").text
    for caution in (
        "Read cloud results conservatively",
        "gen2",
        "about 5 times as fast",
        "r5ad.24xlarge ran for 12 hours",
    ):
        assert text.index(caution) < text.index('id="cloud-rows"')


def test_speed_grows_linearly_from_1_to_24_devices(client, catalogue):
    text = section(client.get("/drives/cloud/").text, "Speed by number of devices")
    part = " ".join(text.split("GCP n2-standard-80, 375 GB devices")[1].split("</tbody>")[0].split())
    assert part.count("267,000</td><td") == 7
    assert '<th scope="row" class="n">24</th><td>sole tenant</td><td class="n"><b>6,408,000</b></td>' in part
    assert part.count(">100 %<") == 4  # 1 to 4 devices of shared hosts
    assert part.count('>100 % <span class="sub">compared with shared</span><') == 3  # 8, 16 and 24 of sole tenants
    assert '>122 % <span class="sub">compared with shared</span><' in part


def test_single_runs_have_no_median_and_the_page_states_so(client, catalogue):
    assert (
        "Each of the 40 results is a single run, so there is no median and no spread"
        in client.get("/drives/cloud/").text
    )


def test_repeated_runs_have_a_median_and_a_spread(client, make_product, make_published_run):
    product = make_product(category="cloud", vendor="AWS", model="i9", capacity_gb=None)
    for tps in (100_000, 110_000, 130_000):
        make_published_run(product=product, tps=tps, device_count=1, device_gb=900, sole_tenant=False)
    text = section(client.get("/drives/cloud/").text, "Repeated runs")
    cells = [cell.split("<")[0] for cell in text.split('<td class="n')[1:]]
    assert [cell.split(">")[1] for cell in cells] == ["3", "110,000", "100,000", "130,000", "27.3 %"]


def test_conditions_that_no_run_reports_are_named(client, catalogue):
    text = client.get("/drives/cloud/").text
    assert "<dt>region</dt><dd>reported by none</dd>" in text
    assert "<dt>start time</dt><dd>reported by none</dd>" in text


def test_conditions_that_some_runs_report_are_counted(client, make_product, make_published_run):
    product = make_product(category="cloud", vendor="AWS", model="i9", capacity_gb=None)
    make_published_run(product=product, firmware="FW7")
    make_published_run(product=product)
    assert "<dt>firmware observed</dt><dd>reported by 1 of 2</dd>" in client.get("/drives/cloud/").text


def test_a_failing_run_is_not_the_fastest_of_a_capacity(client, make_product, make_published_run):
    small, large = (make_product(model="EX", capacity_gb=size) for size in (1600, 3200))
    make_published_run(product=small, tps=300_000)
    make_published_run(product=large, tps=400_000)
    make_published_run({1000: "90.00"}, product=small, tps=500_000)
    text = section(client.get("/drives/nvme-flash/").text, "One model, several capacities")
    assert "300,000" in text
    assert "500,000" not in text
    assert "slower than" not in text


def test_capacities_with_other_numbers_of_devices_are_not_shown_together(client, make_product, make_published_run):
    small, large = (make_product(model="EX", capacity_gb=size) for size in (1600, 3200))
    make_published_run(product=small, device_count=4)
    make_published_run(product=large, device_count=1)
    assert "One model, several capacities" not in client.get("/drives/nvme-flash/").text
    make_published_run(product=large, device_count=4, tps=200_000)
    text = section(client.get("/drives/nvme-flash/").text, "One model, several capacities")
    assert "EX, 4 devices together" in text
    assert "slower than" in text


def test_runs_of_a_log_are_repeats_only_at_one_requested_speed(client, make_product, make_log_run):
    product = make_product(category="cloud", vendor="AWS", model="i9", capacity_gb=None)
    stated = {"product": product, "device_count": 1, "device_gb": 900}
    make_log_run(tps=100_000, **stated)
    make_log_run(tps=200_000, **stated)
    assert 'aria-label="Repeated runs"' not in client.get("/drives/cloud/").text
    make_log_run(tps=200_000, **stated)
    text = section(client.get("/drives/cloud/").text, "Repeated runs")
    cells = [cell.split("<")[0] for cell in text.split('<td class="n')[1:]]
    assert [cell.split(">")[1] for cell in cells] == ["2", "200,000", "200,000", "200,000", "requested"]


def test_devices_are_compared_by_their_fastest_passing_runs(client, make_product, make_published_run):
    product = make_product(category="cloud", vendor="AWS", model="i9", capacity_gb=None)
    for devices, tps in ((1, 50_000), (1, 100_000), (2, 200_000)):
        make_published_run(product=product, tps=tps, device_count=devices, device_gb=900)
    make_published_run({1000: "90.00"}, product=product, tps=900_000, device_count=2, device_gb=900)
    text = section(client.get("/drives/cloud/").text, "Speed by number of devices")
    assert [tps in text for tps in ("50,000<", "100,000<", "200,000<", "900,000<")] == [False, True, True, False]
