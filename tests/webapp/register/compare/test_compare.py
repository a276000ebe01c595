"""Two to six drives or runs side by side: figures if they are comparable, otherwise the reasons."""

import copy
import csv
import io
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from results.models import Evidence, Product, Run, Slice, Statistic, Submission, Visibility
from tests.results.rows import from_a_log, judge
from tests.webapp.register.conftest import SLOW_DISK_FACTS, SLOW_DISK_VERDICT
from tests.webapp.register.pages import shown_html
from webapp.register.comparability.conditions import act_conditions
from webapp.register.compare import choice

pytestmark = pytest.mark.django_db

CONFIG = [
    ["device-names", "/dev/nvme0n1"], ["test-duration-sec", "40"], ["large-block-op-kbytes", "128"],
    ["defrag-lwm-pct", "50"], ["compress-pct", "100"], ["disable-odsync", "no"],
]  # fmt: skip
FACTS = SLOW_DISK_FACTS | {
    "config": CONFIG, "asked_duration_s": 40, "record_bytes": 1536, "arrivals": "lockstep", "service_threads": 10,
    "judged_ordinal": 0, "compared_ordinal": 0,
}  # fmt: skip


@pytest.fixture
def make_run(make_log_run):
    """Return a function that makes a run with all values that a log can report."""

    def make(facts=None, config=(), document=None, **fields):
        own = FACTS | (facts or {}) | {"config": [*CONFIG, *config]}
        document = copy.deepcopy(document or SLOW_DISK_VERDICT | {"time": "service"})
        return make_log_run(facts=own, document=document, device_count=1, compress_pct=100, **fields)

    return make


def compare_url(*runs, **more):
    return "/compare/?" + "&".join(
        [f"run={run.public_id}" for run in runs] + [f"{name}={value}" for name, value in more.items()]
    )


def comparison(client, *runs):
    return client.get(compare_url(*runs, format="json")).json()


def test_runs_with_equal_conditions_are_compared_side_by_side(client, make_run):
    first, second = make_run(), make_run(tps=Decimal(1200))
    document = comparison(client, first, second)
    assert document["is_comparable"]
    rows = {row["row"]: row for row in document["rows"]}
    assert (rows["tps"]["values"], rows["tps"]["differs"]) == (["900", "1,200"], True)
    assert (rows["pct_over_64000us"]["values"], rows["pct_over_64000us"]["differs"]) == (["0.33", "0.33"], False)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"facts": {"record_bytes": 512}}, "record_bytes"),
        ({"facts": {"asked_duration_s": 86_400}}, "asked_duration_s"),
        ({"facts": {"service_threads": 64}}, "requests_together"),
        ({"facts": {"arrivals": "even"}}, "arrivals"),
        ({"facts": {"generator": "drivetest"}}, "generator"),
        ({"config": [["defrag-lwm-pct", "60"]]}, "defrag_lwm_pct"),
        ({"config": [["no-defrag-reads", "yes"]]}, "defrag_reads"),
        ({"config": [["update-pct", "10"]]}, "update_pct"),
        ({"config": [["disable-odsync", "yes"]]}, "disable_odsync"),
        ({"config": [["commit-to-device", "yes"]]}, "commit_to_device"),
        ({"config": [["tomb-raider", "yes"]]}, "tomb_raider"),
        ({"config": [["large-block-op-kbytes", "256"]]}, "large_block_bytes"),
        ({"slice_length_s": 20}, "slice_length_s"),
        ({"writes_per_s": Decimal(600)}, "read_ratio"),
    ],
)
def test_runs_with_other_conditions_are_refused_with_the_condition(client, make_run, change, name):
    document = comparison(client, make_run(), make_run(**change))
    assert not document["is_comparable"]
    assert name in [row["name"] for row in document["differing"]]
    assert all(row["why"] for row in document["differing"])
    assert "tps" not in [row["row"] for row in document["rows"]]


@pytest.mark.parametrize(
    ("field", "value"), [("device_count", 4), ("compress_pct", 50), ("over_provisioning_pct", Decimal(9))]
)
def test_columns_of_the_run_are_conditions_too(client, make_run, field, value):
    first, second = make_run(over_provisioning_pct=Decimal(7)), make_run(over_provisioning_pct=Decimal(7))
    type(second).objects.filter(pk=second.pk).update(**{field: value})
    assert [row["name"] for row in comparison(client, first, second)["differing"]] == [field]


def test_runs_with_other_coalescing_are_not_compared(client, make_run):
    even = {"arrivals": "even"}
    runs = make_run(facts=even), make_run(facts=even | {"coalesce_us": 1000})
    type(runs[0]).objects.update(reads_per_s=Decimal(2500))
    assert [row["name"] for row in comparison(client, *runs)["differing"]] == ["requests_together"]


@pytest.mark.parametrize(
    ("engine", "reads_per_s", "expected"),
    [("io_uring", 20_000, "2"), ("io_uring", 19_999, None), ("threads", 25_000, "2"), ("threads", 20_000, None)],
)
def test_drivetest_0_3_submits_requests_together_that_0_4_does_not(client, make_run, engine, reads_per_s, expected):
    facts = {"arrivals": "even", "generator": "drivetest", "side_file": {"engine": engine}}
    old, new = make_run(facts=facts, tool_version="0.3.0"), make_run(facts=facts, tool_version="0.4.0")
    type(old).objects.update(reads_per_s=Decimal(reads_per_s))
    differing = comparison(client, old, new)["differing"]
    values = [row["values"] for row in differing if row["name"] == "requests_together"]
    assert values == ([[expected, "1"]] if expected else [])


@pytest.mark.parametrize(("reads_per_s", "is_known"), [(19_999, True), (20_000, False)])
def test_an_unknown_engine_matters_only_if_the_engines_differ(client, make_run, reads_per_s, is_known):
    facts = {"arrivals": "even", "generator": "drivetest"}
    old = make_run(facts=facts, tool_version="0.3.0")
    Run.objects.filter(pk=old.pk).update(reads_per_s=Decimal(reads_per_s))
    old.refresh_from_db()
    assert act_conditions(old).requests_together == (1 if is_known else None)


def test_queue_time_is_not_compared_with_service_time(client, make_run):
    queued = SLOW_DISK_VERDICT | {"time": "queue-and-service"}
    document = comparison(client, make_run(), make_run(document=queued))
    assert [(row["name"], row["values"]) for row in document["differing"]] == [
        ("time", ["service", "queue-and-service"])
    ]


def test_versions_5_x_compare_the_reads_at_the_devices(client, make_run):
    device = [share | {"share_pct": "1.00", "over_count": 60} for share in SLOW_DISK_VERDICT["shares"]]
    document = SLOW_DISK_VERDICT | {"time": "queue-and-service"}
    old = make_run(document=document | {"compared": {"histogram": "device-reads", "time": "service", "shares": device}})
    document = comparison(client, make_run(), old)
    shares = next(row for row in document["rows"] if row["row"] == "pct_over_1000us")
    assert (document["is_comparable"], shares["values"]) == (True, ["5.83", "1.00"])


def test_a_worst_slice_is_not_compared_with_a_steady_state(client, make_run, make_published_run):
    document = comparison(client, make_run(), make_published_run())
    assert "statistic" in [row["name"] for row in document["differing"]]


def test_published_results_are_weakly_comparable_and_unreported_conditions_are_counted(client, make_published_run):
    first, second = make_published_run(device_count=1), make_published_run(tps=Decimal(600_000))
    text = client.get(compare_url(first, second)).text
    assert "<h1>Weak comparison</h1>" in text
    assert "The comparison is weak: for 24 of 27 conditions, at least one run reports no value." in text
    assert "all reported conditions match. Number of conditions not reported: 23 by A, 24 by B." in text
    assert "24 test conditions that at least one run does not report" in text
    assert "600,000" in text
    document = comparison(client, first, second)
    assert (document["is_weak"], document["conditions_count"]) == (True, 27)
    assert [run["not_stated_count"] for run in document["runs"]] == [23, 24]


def test_runs_that_report_most_conditions_are_compared_and_the_others_are_counted(client, make_run):
    text = client.get(compare_url(make_run(), make_run())).text
    assert "<h1>Side by side</h1>" in text
    assert '<p class="verdict">For 4 of 27 conditions, at least one run reports no value. Exemplar ' in text
    assert "Weak" not in text


def test_conditions_that_different_runs_do_not_report_are_counted_together(client, make_run):
    text = client.get(compare_url(make_run(facts={"arrivals": None}), make_run(facts={"record_bytes": None}))).text
    assert "For 7 of 27 conditions, at least one run reports no value." in text
    assert "Number of conditions not reported: 6 by A, 5 by B." in text


def test_a_value_that_several_runs_share_is_listed_once(client, make_run):
    runs = [make_run(facts={"record_bytes": size}) for size in (512, 1536, 512)]
    text = client.get(compare_url(*runs)).text.replace("\N{NO-BREAK SPACE}", " ")
    assert "<bdi>512 bytes (A, C); 1,536 bytes (B)</bdi>; larger objects" in text


def test_runs_that_are_not_comparable_show_no_figures_and_offer_others(client, make_run, make_product):
    drive, other = make_product(), make_product()
    small = make_run(product=drive, facts={"record_bytes": 512})
    make_run(product=drive)
    large = make_run(product=other)
    page = client.get(compare_url(small, large))
    text = page.text.replace("\N{NO-BREAK SPACE}", " ")
    assert "<h1>Not comparable</h1>" in text
    assert "<b>Record size</b>: <bdi>512 bytes and 1,536 bytes</bdi>; larger objects take longer to read." in text
    assert "5.83" not in text
    offered = text.split('id="offers"')[1].split("</ul>")[0]
    assert f"run={large.public_id}" in offered
    assert f"run={small.public_id}" not in offered


def test_a_drive_is_compared_by_its_fastest_comparable_run(client, make_run, make_product):
    drive, other = make_product(), make_product()
    make_run(product=drive, tps=Decimal(9000), facts={"record_bytes": 512})
    like = make_run(product=drive, tps=Decimal(800))
    make_run(product=drive, tps=Decimal(700))
    against = make_run(product=other)
    document = client.get(f"/compare/?drive={drive.slug}&drive={other.slug}&format=json").json()
    assert [run["run"] for run in document["runs"]] == [like.public_id, against.public_id]


def test_the_curve_of_a_drive_has_only_comparable_runs(client, make_run, make_product):
    drive, other = make_product(), make_product()
    odd = make_run(product=drive, tps=Decimal(700), facts={"record_bytes": 512})
    for tps in (800, 900):
        make_run(product=drive, tps=Decimal(tps))
    make_run(product=other)
    text = client.get(f"/compare/?drive={drive.slug}&drive={other.slug}").text
    points = text.split('id="compare-charts"')[1].split("</script>")[0]
    assert "800 tps" in points
    assert odd.public_id not in points


def test_runs_of_logs_are_charted_over_time(client, make_run):
    first, second = make_run(), make_run()
    Slice.objects.filter(run=second, number=3).update(counts=[[90, 0, 0, 0, 0, 0, 0, 0, 10]])
    text = client.get(compare_url(first, second)).text
    assert "Over 64\\u00A0ms by time" in text.replace("\N{NO-BREAK SPACE}", "\\u00A0")
    assert f"hour 0.01: 10 %, run {second.public_id}" in text


def test_runs_of_two_workloads_are_not_compared(client, make_run):
    first, second = make_run(), make_run()
    type(second).objects.filter(pk=second.pk).update(workload="act-index")
    assert "workload" in [row["name"] for row in comparison(client, first, second)["differing"]]


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("run=a&drive=b", "drive: expected either drives or runs"),
        ("run=a&run=a", "run=a"),
        ("&".join(f"drive=d{number}" for number in range(7)), "drive: expected at most 6, got 7"),
        ("drives=a", "drives"),
        ("run=a&run=b&format=xml", "format=xml"),
        ("drive=" + "x" * 121, "at most 120 characters"),
        ("drive=%00&drive=b", "drive"),
        ("format=csv&format=json", "format"),
    ],
)
def test_an_invalid_parameter_is_named(client, query, named):
    response = client.get(f"/compare/?{query}")
    assert (response.status_code, named in response.text) == (400, True)


@pytest.mark.parametrize("query", ["", "drive=", "drive=&drive=", "run=&drive="])
def test_the_page_asks_for_two_runs(client, catalogue, query):
    response = client.get(f"/compare/?{query}")
    assert response.status_code == 200
    assert '<option value="sandisk-dc-sn861-6400gb">' in response.text


def test_one_run_starts_a_selection(client, make_run):
    run = make_run()
    text = client.get(compare_url(run)).text
    assert "A comparison needs at least two drives." in text
    assert f'value="{run.product.slug}" list="drives"' in text


@pytest.mark.parametrize("query", ["run=r-x&run=r-y", "drive=no&drive=none"])
def test_unknown_runs_and_drives_are_not_found(client, query):
    assert client.get(f"/compare/?{query}").status_code == 404


def test_an_unreviewed_run_is_not_compared(client, make_run):
    hidden = make_run(visibility=Visibility.UNREVIEWED)
    assert client.get(compare_url(make_run(), hidden) + f"&key={hidden.submission.link_key}").status_code == 400
    assert client.get(compare_url(make_run(), hidden)).status_code == 404


def test_an_unknown_drive_offers_a_search(client, make_run):
    answer = client.get(f"/compare/?drive={make_run().product.slug}&drive=exemplar-p4611")
    assert answer.status_code == 404
    assert 'value="exemplar-p4611"' in answer.content.decode()
    assert '/search/?q=exemplar-p4611"' in answer.content.decode()


def test_a_withdrawn_run_is_compared_and_marked(client, make_run):
    text = client.get(compare_url(make_run(), make_run(visibility=Visibility.WITHDRAWN))).text
    assert '<span class="fail">withdrawn</span>' in text


def test_the_csv_has_a_column_for_each_run(client, make_run):
    first, second = make_run(), make_run(tps=Decimal(1200))
    rows = list(csv.DictReader(io.StringIO(client.get(compare_url(first, second, format="csv")).text, newline="")))
    speed = next(row for row in rows if row["row"] == "tps")
    assert (speed[first.public_id], speed[second.public_id], speed["differs"]) == ("900", "1,200", "yes")


def test_names_are_escaped(client, make_run, make_product):
    name = "</script><script>alert(1)</script>\u202e" + "x" * 150
    first = make_run(product=make_product(vendor=name, model="<b>M"), firmware="=1+1")
    text = client.get(compare_url(first, make_run())).text
    assert "<script>alert" not in text
    assert "<b>M" not in text


def test_six_runs_need_as_many_queries_as_two_except_for_slices(make_run, count_queries):
    runs = [make_run() for _ in range(6)]
    Slice.objects.all().delete()  # the slices of each run are read with a query of their own
    assert count_queries(compare_url(*runs[:2])) + 2 * 4 == count_queries(compare_url(*runs))


def test_published_drives_can_be_compared_after_the_first_start(client, catalogue):
    slugs = Product.objects.filter(category="nvme-flash", historical=False).values_list("slug", flat=True)[:6]
    document = client.get("/compare/?" + "&".join(f"drive={slug}" for slug in slugs) + "&format=json").json()
    assert document["is_comparable"] == (not document["differing"])
    assert len(document["runs"]) == 6


def test_two_runs_of_one_drive_are_distinguished_and_its_other_runs_are_offered(client, make_run, make_product):
    drive = make_product()
    first, second = make_run(product=drive), make_run(product=drive, facts={"record_bytes": 512})
    like = make_run(product=drive)
    text = client.get(compare_url(first, second)).text
    assert f"Runs {first.public_id} (A) and {second.public_id} (B) cannot be compared: record size differs." in text
    assert f"/compare/?run={first.public_id}&amp;run={like.public_id}" in text


def test_a_right_to_left_mark_does_not_affect_the_text_around_it(client, make_run, make_product):
    run = make_run(product=make_product(model="\u202eEX"))
    for path in (compare_url(run, make_run()), f"/runs/{run.public_id}/", f"/drive/{run.product.slug}/"):
        named = client.get(path).text.split("</h1>")[1 if "compare" in path else 0]
        assert "<bdi>Exemplar \u202eEX" in named


def test_a_slow_drive_next_to_many_faster_runs_is_still_compared(client, make_product, make_published_run, monkeypatch):
    monkeypatch.setattr(choice, "CANDIDATES_MAX", 1)
    slow, fast = make_product(), make_product()
    make_published_run(product=slow, tps=Decimal(1000))
    for place in range(choice.MOST * len(Statistic) + 1):
        make_published_run(product=fast, tps=Decimal(300_000 + place))
    assert client.get(f"/compare/?drive={slow.slug}&drive={fast.slug}").status_code == 200


def test_minutes_and_older_verdicts_are_not_read(client, make_run):
    first, second = make_run(), make_run()
    for outcome in ("fail", "void"):
        judge(first, outcome)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(compare_url(first, second)).status_code == 200
    statements = [query["sql"] for query in queries if "results_series" in query["sql"]]
    assert statements == []
    [run] = choice.runs_to_compare(Run.objects.filter(pk=first.pk))
    assert [verdict.outcome for verdict in run.verdicts.all()] == ["void"]


def row_of(document, name):
    return next((row["values"] for row in document["rows"] if row["row"] == name), None)


def test_the_limits_of_the_profile_add_no_row(client, make_published_run):
    runs = make_published_run(), make_published_run({1000: "5.60"})
    assert row_of(comparison(client, *runs), "with_your_limits") is None
    text = shown_html(client.get(compare_url(*runs)))
    assert "Within all limits: 1 of 2 results." in text
    assert text.count('class="over"') == 1


@pytest.mark.parametrize(
    ("reasons", "stop", "limit_8ms", "word"),
    [
        ([], "finished", "1.34", "passes"),
        ([], "finished", "1.33", "fails"),
        (["too short"], "finished", "1.34", "undecided"),
        (["too short"], "finished", "1.33", "fails"),
        (["could not keep up"], "cannot-keep-up", "1.34", "fails"),
    ],
)
def test_a_failing_log_passes_under_limits_equal_to_its_shares(client, make_run, reasons, stop, limit_8ms, word):
    document = SLOW_DISK_VERDICT | {"reasons": reasons}
    runs = [make_run(document=document, facts={"stop": {"kind": stop}}) for _ in range(2)]
    limits = {"limit_1ms": "5.83", "limit_8ms": limit_8ms, "limit_64ms": "0.34"}
    document = client.get(compare_url(*runs, format="json", **limits)).json()
    assert (row_of(document, "verdict"), row_of(document, "with_your_limits")) == (["fails"] * 2, [word] * 2)


@pytest.mark.parametrize(
    ("limit_8ms", "expected"), [("1.34", ["undecided", "undecided", "fails"]), ("1.33", ["fails"] * 3)]
)
def test_stop_reasons_of_withheld_files_are_not_shown(client, make_run, limit_8ms, expected):
    document, stop = SLOW_DISK_VERDICT | {"reasons": ["could not keep up"]}, {"stop": {"kind": "cannot-keep-up"}}
    withheld, sequestered, shown = [make_run(document=document, facts=stop) for _ in range(3)]
    side_file = from_a_log()["submission"].log
    Submission.objects.filter(pk=sequestered.submission.pk).update(side_file=side_file)
    Evidence.objects.filter(pk__in=[withheld.submission.log.pk, side_file.pk]).update(sequestered=True)
    limits = {"limit_1ms": "5.83", "limit_8ms": limit_8ms, "limit_64ms": "0.34"}
    document = client.get(compare_url(withheld, sequestered, shown, format="json", **limits)).json()
    assert row_of(document, "with_your_limits") == expected


def test_runs_are_compared_with_the_limits_of_the_reader(client, make_published_run):
    runs = make_published_run({1000: "3.00"}), make_published_run({1000: "3.01"})
    document = client.get(compare_url(*runs, format="json", limit_1ms="3")).json()
    assert row_of(document, "with_your_limits") == ["passes", "fails"]
    page = client.get(compare_url(*runs, limit_1ms="3"))
    assert "With your limits, 1 of 2 pass; 1 that passes the profile fails: " in page.text
    assert f"?run={runs[0].public_id}&amp;run={runs[1].public_id}&amp;limit_1ms=3&amp;format=csv" in page.text


def test_limits_do_not_change_the_run_of_a_drive(client, make_product, make_published_run):
    drives = make_product(), make_product()
    for drive in drives:
        make_published_run({1000: "4.00"}, product=drive, tps=Decimal(600_000))
        make_published_run({1000: "1.00"}, product=drive, tps=Decimal(300_000))
    address = f"/compare/?drive={drives[0].slug}&drive={drives[1].slug}&format=json"
    assert client.get(address).json()["runs"] == client.get(f"{address}&limit_1ms=2").json()["runs"]


def test_curves_show_the_limits_of_the_reader(client, make_product, make_published_run):
    drives = make_product(), make_product()
    for drive in drives:
        for tps, share in ((300_000, "1.00"), (600_000, "4.00")):
            make_published_run({1000: share}, product=drive, tps=Decimal(tps))
    address = f"/compare/?drive={drives[0].slug}&drive={drives[1].slug}&limit_1ms=2"
    chart = client.get(address).context["comparison"].charts[0]
    assert (chart["limit"], [line["over"] for line in chart["lines"]]) == (2.0, [[False, True]] * 2)


@pytest.mark.parametrize("query", ["limit_1ms=x", "limit_2ms=5", "limit_1ms=1&limit_1ms=2"])
def test_an_unknown_limit_is_named(client, make_published_run, query):
    response = client.get(compare_url(make_published_run(), make_published_run()) + "&" + query)
    assert (response.status_code, query[:9] in response.text) == (400, True)


def test_an_instance_shows_the_caution_of_the_cloud_page_once(client, make_run, make_product):
    instance = make_run(product=make_product(category="cloud"), device_gb=375)
    drives = [make_run(), make_run()]
    text = client.get(compare_url(drives[0], instance)).text
    assert text.count("<b>Measured on a cloud instance: B with 1 device.</b> Read cloud results conservatively: ") == 1
    assert text.index("Read cloud results") < text.index('id="figures"')
    assert "Read cloud results" not in client.get(compare_url(*drives)).text


def test_a_refused_comparison_shows_the_caution_too(client, make_run, make_product):
    instance = make_run(product=make_product(category="cloud"))
    Run.objects.filter(pk=instance.pk).update(device_count=None)
    text = client.get(compare_url(instance, make_run(facts={"record_bytes": 512}))).text
    assert "cannot be compared" in text
    assert "A with an unknown number of devices.</b> Read cloud results conservatively: " in text
