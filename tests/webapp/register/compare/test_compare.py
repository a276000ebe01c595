"""Two to six drives or runs side by side: all figures, grey where a comparison misleads, and the reasons."""

import copy
import csv
import html
import io
import re
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from results.models import Evidence, Product, Run, Slice, Statistic, Submission, Visibility, YcsbRun
from tests.results.builders import link_key
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
def test_runs_with_other_conditions_do_not_compare_because_of_the_condition(client, make_run, change, name):
    document = comparison(client, make_run(), make_run(**change))
    assert not document["is_comparable"]
    assert name in [row["name"] for row in document["differing"]]
    assert all(row["why"] for row in document["differing"])
    assert [run["is_grey"] for run in document["runs"]] == [False, True]
    assert {
        row["row"]: row["misleads"] for row in document["rows"] if row["row"] in {"tps", "verdict", "capacity_gb"}
    } == {
        "tps": True,
        "verdict": False,
        "capacity_gb": False,
    }


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


def said(client, *runs, **more):
    """Return the result of a comparison as a reader sees it."""
    text = client.get(compare_url(*runs, **more)).text.replace("\N{NO-BREAK SPACE}", " ")
    return html.unescape(re.search(r'<p class="verdict">(.*?)</p>', text)[1])


def test_the_result_names_the_drive_whose_rating_allows_the_highest_speed(client, make_product, make_published_run):
    ratings = [Decimal(1), Decimal(3), None]
    runs = [make_published_run(product=make_product(endurance_dwpd=dwpd, capacity_gb=3_200)) for dwpd in ratings]
    name = f"Exemplar {runs[1].product.model} 3.2 TB"
    assert said(client, *runs).endswith(f"The rating of {name} allows the highest speed: 108,000 tps.")
    assert "highest speed" not in said(client, runs[0], runs[2])


def test_published_results_have_a_result_and_unreported_conditions_are_counted(client, make_published_run):
    first = make_published_run(device_count=1, tool_version="")
    second = make_published_run(tps=Decimal(600_000), tool_version="")
    text = client.get(compare_url(first, second)).text
    names = [f"Exemplar {run.product.model} 3.2 TB" for run in (first, second)]
    assert said(client, first, second) == (
        f"{names[1]} was tested at 2 times the speed of {names[0]}: 600,000 against 300,000 tps. 4.00 % against 4.00 % "
        "of their reads took over 1 ms."
    )
    assert f"<h1><bdi>{names[0]} and {names[1]}</bdi></h1>".replace("3.2 TB", "3.2\N{NO-BREAK SPACE}TB") in text
    assert (
        "Comparable as far as known: 2 of 27 test conditions agree; 25 are not reported. "
        '<a href="#conditions">All conditions</a>'
    ) in text
    assert "Number of conditions not reported: 24 by A, 25 by B." in text
    assert "weak" not in text.lower()
    document = comparison(client, first, second)
    assert (document["is_weak"], document["conditions_count"]) == (True, 27)
    assert [run["not_stated_count"] for run in document["runs"]] == [24, 25]


def test_of_three_runs_with_the_same_speed_none_is_the_fastest(client, make_run):
    found = said(client, *(make_run(tps=Decimal(tps)) for tps in (600, 900, 900)))
    assert found.startswith("Speeds in tps: ")
    assert "fastest" not in found
    assert found.rindex("(900)") < found.index("(600)")


def test_details_of_the_conditions_are_closed(client, make_published_run):
    text = client.get(compare_url(make_published_run(), make_published_run())).text
    assert '<details id="conditions" class="fold"><summary>' in text
    assert text.index('id="figures"') < text.index('id="conditions"') < text.index("Number of conditions not reported")


def test_runs_that_report_most_conditions_are_compared_and_the_others_are_counted(client, make_run):
    text = client.get(compare_url(make_run(), make_run())).text
    assert "Comparable: 23 of 27 test conditions agree; 4 are not reported." in text
    assert "were tested at the same speed, 900 tps." in text


def test_conditions_that_different_runs_do_not_report_are_counted_together(client, make_run):
    text = client.get(compare_url(make_run(facts={"arrivals": None}), make_run(facts={"record_bytes": None}))).text
    assert "Comparable: 20 of 27 test conditions agree; 7 are not reported." in text
    assert "Number of conditions not reported: 6 by A, 5 by B." in text


def test_a_value_that_several_runs_share_is_listed_once(client, make_run):
    runs = [make_run(facts={"record_bytes": size}) for size in (512, 1536, 512)]
    assert "record size differs (1,536 bytes against 512 bytes), and larger objects" in said(client, *runs)
    assert [run["is_grey"] for run in comparison(client, *runs)["runs"]] == [False, True, False]


def test_the_result_of_a_mixed_set_names_who_differs_and_compares_the_others(client, make_product, make_published_run):
    def published(model, version, tps, dwpd):
        product = make_product(model=model, capacity_gb=3200, endurance_dwpd=Decimal(dwpd))
        return make_published_run({1000: "4.00"}, product, tool_version=version, tps=Decimal(tps))

    runs = [
        published("FAST", "6.4", 900_000, 1),
        published("OLD", "5.2", 500_000, 1),
        published("SLOW", "6.1", 300_000, 3),
    ]
    assert said(client, *runs) == (
        "Exemplar OLD 3.2 TB is not comparable with the other two: time measured differs (in drive plus queue against "
        "in the drive), and waiting in the queue makes reads slower. The other two are comparable: "
        "Exemplar FAST 3.2 TB was tested at 3 times the speed of Exemplar SLOW 3.2 TB: 900,000 against 300,000 tps. "
        "4.00 % against 4.00 % of their reads took over 1 ms. The rating of Exemplar SLOW 3.2 TB allows the highest "
        "speed: 108,000 tps."
    )
    text = client.get(compare_url(*runs)).text.replace("\N{NO-BREAK SPACE}", " ")
    assert "<p>Exemplar OLD 3.2 TB (B) is shown in grey. Comparable results:</p>" in text
    assert (
        text.split("</head>")[1].count("waiting in the queue makes reads slower") == 2
    )  # the result, and its condition
    assert '<tspan class="letter">B</tspan> Exemplar OLD 3.2 TB</text>' in text.split('id="bars"')[1]


def test_each_reason_of_a_mixed_set_names_its_runs(client, make_product, make_published_run):
    def published(model, **facts):
        return make_published_run(product=make_product(model=model, capacity_gb=3200), **facts)

    runs = [
        published("ONE", tool_version="6.1"),
        published("OLD", tool_version="5.2"),
        published("OLDER", tool_version="5.3"),
        published("HALF", tool_version="6.1", compress_pct=50),
        published("FULL", tool_version="6.1", compress_pct=100),
    ]
    sentences = said(client, *runs)
    assert "Exemplar OLD 3.2 TB and Exemplar OLDER 3.2 TB are not comparable with Exemplar " in sentences
    assert (
        "OLDER 3.2 TB are not comparable with Exemplar ONE 3.2 TB and Exemplar HALF 3.2 TB: time measured" in sentences
    )
    assert "Exemplar FULL 3.2 TB is not comparable with Exemplar ONE 3.2 TB and Exemplar HALF 3.2 TB: comp" in sentences
    assert "The other two are comparable: Exemplar ONE 3.2 TB and Exemplar HALF 3.2 TB were tested" in sentences


def test_runs_that_are_not_comparable_show_their_figures_in_grey_and_offer_others(client, make_run, make_product):
    drive, other = make_product(), make_product()
    small = make_run(product=drive, facts={"record_bytes": 512})
    make_run(product=drive)
    large = make_run(product=other)
    text = client.get(compare_url(small, large)).text
    assert (
        "are not comparable: record size differs (512 bytes and 1,536 bytes), and larger objects take longer to read."
        in said(client, small, large)
    )
    assert text.split("</head>")[1].count("not comparable: record size differs") == 1
    assert " (B) is shown in grey. Comparable results:</p>" in text
    assert "22 of 27 test conditions agree; 1 differs; 4 are not reported." in text
    shares = text.split('id="what-they-did"')[1].split("Over 1")[1].split("</tr>")[0]
    assert shares.count("5.83") == 2
    assert re.findall(r'<td class="share([^"]*)">', shares) == ["", " grey"]
    assert '<span class="tag">not comparable</span>' in shares
    capacity = text.split('id="drives"')[1].split("Capacity")[1].split("</tr>")[0]
    assert " grey" not in capacity
    offered = text.split('id="offers"')[1].split("</ul>")[0]
    assert f"run={large.public_id}" in offered


@pytest.mark.parametrize(
    ("change", "trait"),
    [
        ({"tool_version": "5.2"}, "time in the drive and in the queue"),
        ({"compress_pct": 50}, "compressible data (50 %)"),
        ({"device_count": 4}, "4 devices"),
    ],
)
def test_the_heads_state_what_differs(client, make_published_run, change, trait):
    stated = {"tool_version": "6.1", "device_count": 1}
    runs = make_published_run(**stated), make_published_run(**stated | change)
    text = client.get(compare_url(*runs)).text
    heads = text.split('<ol class="heads">')[1].split("</ol>")[0]
    assert f"<b>{trait}</b>" in heads
    assert "as published" in heads
    assert "<b>as published</b>" not in heads
    assert f"<b>{trait}</b>" in text.split('id="what-they-did"')[1].split("</thead>")[0]


def test_a_pair_with_and_without_queue_time_offers_the_nearest_pair_of_each_group(
    client, make_product, make_published_run
):
    def published(version, tps, model, capacity_gb=3200):
        product = make_product(model=model, capacity_gb=capacity_gb)
        return make_published_run(product=product, tool_version=version, tps=Decimal(tps), device_count=1)

    new, old = published("6.1", 500_000, "NEW"), published("5.2", 300_000, "OLD")
    published("6.4", 900_000, "FAR")
    published("", 490_000, "UNKNOWN")  # no condition is known to differ, but neither is its group
    near_new, near_old = published("6.2", 310_000, "NEAR"), published("5.3", 100_000, "OLDER")
    document = comparison(client, new, old)
    assert [offer["page"] for offer in document["nearest"]] == [
        f"/compare/?run={new.public_id}&run={near_new.public_id}",
        f"/compare/?run={old.public_id}&run={near_old.public_id}",
    ]
    for offer in document["nearest"]:
        assert client.get(f"{offer['page']}&format=json").json()["is_comparable"]
    same_model = published("6.2", 2_000_000, "OLD", capacity_gb=6400)
    assert comparison(client, new, old)["nearest"][0]["page"].endswith(same_model.public_id)
    assert "time in the drive and in the queue" not in str(document["differing"])
    assert said(client, new, old) == (
        "Exemplar NEW 3.2 TB and Exemplar OLD 3.2 TB are not comparable: time measured differs (in the drive and in "
        "drive plus queue), and waiting in the queue makes reads slower."
    )


def test_a_pair_has_all_reasons_why_it_does_not_compare(client, make_product, make_published_run):
    def published(model, **facts):
        return make_published_run(product=make_product(model=model, capacity_gb=3200), **facts)

    new = published("NEW", tool_version="6.1", compress_pct=100)
    old = published("OLD", tool_version="5.2", compress_pct=50)
    plain = published("PLAIN", tool_version="5.2")
    squeezed = published("HALF", tool_version="6.1", compress_pct=50)
    first = "time measured differs (in the drive and in drive plus queue), and waiting in the queue makes reads slower."
    assert said(client, new, old) == (
        f"Exemplar NEW 3.2 TB and Exemplar OLD 3.2 TB are not comparable: {first} Compression differs too (100 % and "
        "50 %), and a drive that compresses data writes less."
    )
    assert said(client, squeezed, plain) == (
        f"Exemplar HALF 3.2 TB and Exemplar PLAIN 3.2 TB are not comparable: {first} The data of Exemplar HALF 3.2 TB "
        "was compressible (to 50 %), and a drive that compresses data writes less; Exemplar PLAIN 3.2 TB does not "
        "report its data."
    )


def test_only_the_first_reasons_of_a_pair_say_why_they_matter(client, make_run):
    facts = {"record_bytes": 512, "asked_duration_s": 86_400, "arrivals": "even", "generator": "drivetest"}
    sentences = said(client, make_run(), make_run(facts=facts))
    assert sentences.count(" differs too (") == 2
    assert "Also different: " in sentences


def test_a_pair_without_any_comparable_run_leads_to_the_form(client, make_published_run):
    text = client.get(compare_url(make_published_run(compress_pct=50), make_published_run(compress_pct=100))).text
    assert "No comparable run was found among the nearest results. " in text
    assert '<a href="/compare/" data-carries>Choose other drives</a>' in text


def test_the_shares_of_tables_are_shown_next_to_those_that_comparisons_use(client, make_run):
    device = [share | {"share_pct": "1.00", "over_count": 60} for share in SLOW_DISK_VERDICT["shares"]]
    document = SLOW_DISK_VERDICT | {"time": "queue-and-service"}
    compared = {"compared": {"histogram": "device-reads", "time": "service", "shares": device}}
    old = make_run(document=document | compared, tool_version="5.3")
    rows = {row["row"]: row["values"] for row in comparison(client, make_run(), old)["rows"]}
    assert (rows["pct_over_1000us"], rows["listed_pct_over_1000us"]) == (["5.83", "1.00"], ["5.83", "5.83"])
    text = client.get(compare_url(make_run(), old)).text
    assert "ACT 5.3, time in the drive" in text.split('<ol class="heads">')[1].split("</ol>")[0]
    assert "listed_pct_over_1000us" not in {row["row"] for row in comparison(client, make_run(), make_run())["rows"]}


def test_bars_show_speed_shares_endurance_and_speed_per_tb(client, make_product, make_published_run):
    drive = make_product(capacity_gb=6400, endurance_dwpd=Decimal(3))
    fast = make_published_run({1000: "5.42", 8000: "0.10", 64000: "0.00"}, drive, tps=Decimal(1_728_000))
    slow = make_published_run(product=make_product(capacity_gb=3200), tps=Decimal(216_000))
    text = client.get(compare_url(fast, slow)).text.replace("\N{NO-BREAK SPACE}", " ")
    first, second = (
        f"{run.product.vendor} {run.product.model} {size} TB" for run, size in ((fast, "6.4"), (slow, "3.2"))
    )
    first, second = f"{first} (A)", f"{second} (B)"
    pictures = re.findall(r'<svg class="bar-chart"[^>]* aria-label="([^"]+)"', text)
    assert pictures == [
        f"Speed, tps: {first} 1,728,000; {second} 216,000",
        f"Over 1 ms, % of reads, limit 5 %: {first} 5.42, over; {second} 4.00",
        f"Over 8 ms, % of reads, limit 1 %: {first} 0.10; {second} 0.10",
        f"Endurance, drive writes a day, logarithmic; ring: rating, bar: tested speed: {first} 24, rated 3",
        f"Speed per TB, tps, one device: {first} 270,000; {second} 67,500",
    ]
    assert (
        "<b>A</b> At 1,728,000 tps, one drive needs 24 drive writes a day; it is rated for 3. Its rating allows "
        "216,000 tps."
    ) in text
    endurance = text.split('aria-label="Endurance')[1].split("</svg>")[0]
    assert endurance.count('<rect class="strong"') == 1
    widths = re.findall(r'<rect class="calm" x="34.00%" y="\d+" width="([\d.]+)%"', text)
    assert widths[:2] == ["64.00", "8.00"]
    assert "A, B: under 0.005 %, printed as 0.00" in text


@pytest.mark.parametrize(
    ("shares", "sentence"),
    [
        (("0.00", "0.00"), "A, B: under 0.005 %, printed as 0.00"),
        (("0.00", "0.000"), "A, B: under 0.005 %, printed as 0.00"),
        (("0.000", "0.000"), "A, B: under 0.0005 %, printed as 0.000"),
        (("0.00", "0.01"), ""),
    ],
)
def test_shares_of_zero_have_a_sentence_instead_of_bars(client, make_product, make_published_run, shares, sentence):
    runs = [make_published_run({64000: share}, make_product()) for share in shares]
    charts = client.get(compare_url(*runs)).context["comparison"].bars
    assert next(chart.zero_sentence for chart in charts if chart.title.startswith("Over 64")) == sentence


def test_two_panels_without_bars_are_one_that_says_which_share_each_line_is_of(
    client, make_product, make_published_run
):
    shares = {1000: "0.56", 8000: "0.00", 64000: "0.000"}
    runs = [make_published_run(shares, make_product()) for _ in range(2)]
    charts = client.get(compare_url(*runs)).context["comparison"].bars
    (empty,) = [chart for chart in charts if chart.zero_sentence]
    assert empty.title.replace("\N{NBSP}", " ") == "Over 8 ms and over 64 ms"
    assert empty.zero_sentence.replace("\N{NBSP}", " ") == (
        "Over 8 ms (limit 1 %): A, B: under 0.005 %, printed as 0.00; "
        "over 64 ms (limit 0.1 %): A, B: under 0.0005 %, printed as 0.000"
    )


def test_the_start_page_shows_three_fields_at_once(client, catalogue):
    shown = client.get("/compare/").text.split("<details>")[0]
    assert [number for number in range(1, 7) if f'id="drive-{number}"' in shown] == [1, 2, 3]


def test_the_gaps_of_endurance_have_equal_lengths_for_equal_ratios(client, make_product, make_published_run):
    """A rating of 100 does not flatten one of 1: the axis is logarithmic."""
    drives = [make_product(capacity_gb=6400, endurance_dwpd=Decimal(dwpd)) for dwpd in ("1", "100")]
    speeds = (Decimal(144_106), Decimal(14_410_600))  # 2 and 200 drive writes a day
    runs = [make_published_run(product=drive, tps=tps) for drive, tps in zip(drives, speeds, strict=True)]
    text = client.get(compare_url(*runs)).text
    endurance = text.split('aria-label="Endurance')[1].split("</svg>")[0]
    widths = [float(each) for each in re.findall(r'<rect class="strong" [^>]*width="([\d.]+)%"', endurance)]
    assert len(widths) == 2
    assert widths[0] == pytest.approx(widths[1], abs=0.02)
    assert widths[0] > 5
    rings = [float(each) for each in re.findall(r'<circle class="rating" cx="([\d.]+)%"', endurance)]
    ticks = [float(each) for each in re.findall(r'<rect class="tick" x="([\d.]+)%"', endurance)]
    assert all(34 < place < 98 for place in (*rings, *ticks))
    assert [tick > ring for ring, tick in zip(rings, ticks, strict=True)] == [True, True]


def test_the_bar_of_endurance_is_grey_if_its_run_does_not_compare(client, make_product, make_published_run):
    rated = {"capacity_gb": 6400, "endurance_dwpd": Decimal(3)}
    runs = [make_published_run(product=make_product(**rated), tool_version=version) for version in ("6.1", "5.2")]
    charts = client.get(compare_url(*runs)).context["comparison"].bars
    endurance = next(chart for chart in charts if chart.title == "Endurance")
    assert [bar.is_grey for bar in endurance.bars] == [False, True]


def test_bars_that_do_not_compare_are_below_a_break(client, make_published_run):
    runs = [make_published_run(tool_version=version) for version in ("6.1", "5.2", "6.4")]
    response = client.get(compare_url(*runs))
    speed = response.context["comparison"].bars[0]
    assert [(bar.letter, bar.is_below_break) for bar in speed.bars] == [("A", False), ("C", False), ("B", True)]
    assert speed.bars[1].top_px < speed.break_px < speed.bars[2].name_px < speed.bars[2].top_px < speed.height_px
    picture = response.text.split('aria-label="Speed, tps')[1].split("</svg>")[0]
    assert picture.count("not comparable with the bars above") == 1
    assert "300,000, not comparable" in picture.split('">')[0]
    compared = client.get(compare_url(runs[0], runs[2])).text
    assert "with the bars above" not in compared


def test_a_bar_over_its_rating_is_strong_also_if_its_run_does_not_compare(client, make_product, make_published_run):
    rated, tps = {"capacity_gb": 6400, "endurance_dwpd": Decimal(3)}, Decimal(1_728_000)
    runs = [make_published_run(product=make_product(**rated), tool_version=each, tps=tps) for each in ("6.1", "5.2")]
    text = client.get(compare_url(*runs)).text
    endurance = text.split('aria-label="Endurance')[1].split("</svg>")[0]
    assert re.findall(r'<rect class="((?:strong|calm|grey)[^"]*)"', endurance) == ["strong", "strong open"]
    assert endurance.count('<text class="value strong"') == 2


def test_a_virtual_device_has_no_sentence_about_endurance(client, make_product, make_run):
    rated = make_product(capacity_gb=6400, endurance_dwpd=Decimal(3))
    runs = make_run(product=rated), make_run(product=rated, facts={"is_virtual_device": True})
    letters = [head.letter for head, _ in client.get(compare_url(*runs)).context["comparison"].endurance]
    assert letters == ["A"]


def test_an_example_with_its_result_is_on_the_empty_page(client, catalogue):
    text = client.get("/compare/?limit_1ms=4").text
    example = text.split('id="example"')[1]
    assert "SanDisk DC SN861" in example
    assert "speed of Smart IOPS" in example  # of another maker, although another SN861 is faster
    assert "times the speed of" in example
    assert example.count("<figure><figcaption>") == 5  # one for both shares without bars
    address = html.unescape(re.search(r'<a href="([^"]+)">See the whole comparison', example)[1])
    assert address.endswith("&limit_1ms=4")
    document = client.get(f"/compare/{address}&format=json").json()
    assert document["is_comparable"]
    assert len({run["measures"][1] for run in document["runs"]}) == 1


def test_an_empty_register_has_no_example(client, db):
    text = client.get("/compare/").text
    assert 'id="example"' not in text
    assert text.count("Drive 2</label>") == 1


def test_runs_of_act_and_of_ycsb_are_shown_together(client, make_run, make_log_run):
    of_ycsb = make_log_run(workload="ycsb", tool="ycsb", tps=None, reads_per_s=None, writes_per_s=None)
    YcsbRun.objects.create(run=of_ycsb, validity="valid", threads_count=4, throughput_ops_per_s=Decimal(5000))
    document = comparison(client, make_run(), of_ycsb)
    rows = {row["row"]: row["values"] for row in document["rows"]}
    assert rows["tps"] == ["900", "not stated"]
    assert rows["throughput"][0] == "not stated"
    assert (document["is_comparable"], document["differing"][0]["name"]) == (False, "workload")


def test_runs_of_ycsb_offer_the_nearest_run_that_compares(client, make_log_run):
    def make(throughput, record_count):
        run = make_log_run(
            workload="ycsb", tool="ycsb", statistic="overall", tps=None, reads_per_s=None, writes_per_s=None
        )
        stated = {"throughput_ops_per_s": Decimal(throughput), "record_count": record_count}
        YcsbRun.objects.create(run=run, validity="valid", threads_count=4, **stated)
        return run

    first, second = make(5000, 1000), make(4000, 2000)
    make(9000, 1000)
    near = make(4100, 1000)
    offered = comparison(client, first, second)["nearest"][0]["page"]
    assert offered == f"/compare/?run={first.public_id}&run={near.public_id}"


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


def test_logs_whose_slices_have_no_reads_have_no_chart_by_time(client, make_run):
    runs = make_run(), make_run()
    Slice.objects.update(counts=[[0]])
    response = client.get(compare_url(*runs))
    assert (response.status_code, response.context["comparison"].charts) == (200, [])


def test_runs_of_two_workloads_are_not_compared(client, make_run):
    first, second = make_run(), make_run()
    type(second).objects.filter(pk=second.pk).update(workload="act-index")
    assert "workload" in [row["name"] for row in comparison(client, first, second)["differing"]]


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("run=a&drive=b", "Drive: expected either drives or runs"),
        ("run=a&run=a", "run=a"),
        ("&".join(f"drive=d{number}" for number in range(7)), "Drive: expected at most 6, got 7"),
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
    assert '<option value="SanDisk DC SN861 6.4\N{NO-BREAK SPACE}TB">' in response.text


def test_one_run_starts_a_selection(client, make_run):
    run = make_run()
    text = client.get(compare_url(run)).text
    assert "A comparison needs at least two drives." in text
    name = f"{run.product.vendor} {run.product.model} 3.2\N{NO-BREAK SPACE}TB"
    assert f'value="{name}" list="drives"' in text


@pytest.mark.parametrize("query", ["run=r-x&run=r-y", "drive=no&drive=none"])
def test_unknown_runs_and_drives_are_not_found(client, query):
    assert client.get(f"/compare/?{query}").status_code == 404


def test_an_unreviewed_run_is_not_compared(client, make_run):
    hidden = make_run(visibility=Visibility.UNREVIEWED)
    assert client.get(compare_url(make_run(), hidden) + f"&key={link_key(hidden.submission)}").status_code == 400
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
    count_queries(compare_url(*runs[:2]))  # reads the names of all drives, which are kept
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
    assert f"Runs {first.public_id} (A) and {second.public_id} (B) are not comparable: record size differs (" in text
    assert f"/compare/?run={first.public_id}&amp;run={like.public_id}" in text


def test_two_runs_of_one_drive_are_named_by_id_in_their_result(client, make_run, make_product):
    drive = make_product()
    slow, fast = make_run(product=drive), make_run(product=drive, tps=Decimal(1200))
    assert said(client, slow, fast).startswith(
        f"{fast.public_id} (B) was tested at 1.33 times the speed of {slow.public_id} (A): 1,200 against 900 tps."
    )
    same = make_run(product=drive)
    assert said(client, slow, same).startswith(f"Runs {slow.public_id} (A) and {same.public_id} (B) were tested at the")


@pytest.mark.parametrize(("tps", "words"), [(502_500, "slightly faster than"), (502_501, "at 1.01 times the speed of")])
def test_a_ratio_that_rounds_to_1_is_not_called_1_times(client, make_published_run, tps, words):
    runs = make_published_run(tps=Decimal(tps)), make_published_run(tps=Decimal(500_000))
    assert words in said(client, *runs)


def test_a_right_to_left_mark_does_not_affect_the_text_around_it(client, make_run, make_product):
    run = make_run(product=make_product(model="\u202eEX"))
    for path in (compare_url(run, make_run()), f"/runs/{run.public_id}/", f"/drive/{run.product.slug}/"):
        named = (
            client.get(path).text.split('<ol class="heads">')[1]
            if "compare" in path
            else client.get(path).text.split("</h1>")[0]
        )
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


def test_the_limits_of_the_reader_go_along_to_the_offered_comparisons(client, make_product, make_run):
    drive = make_product()
    runs = make_run(product=drive), make_run(product=drive, facts={"record_bytes": 512})
    like = make_run(product=drive)
    page = client.get(compare_url(*runs, limit_1ms="3")).context["comparison"].offers[0][1]
    assert page == f"/compare/?run={runs[0].public_id}&run={like.public_id}&limit_1ms=3"


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


def test_a_pair_that_does_not_compare_shows_the_caution_too(client, make_run, make_product):
    instance = make_run(product=make_product(category="cloud"))
    Run.objects.filter(pk=instance.pk).update(device_count=None)
    text = client.get(compare_url(instance, make_run(facts={"record_bytes": 512}))).text
    assert "are not comparable" in text
    assert "A with an unknown number of devices.</b> Read cloud results conservatively: " in text


def test_figures_are_left_of_their_bars_so_that_none_is_beyond_a_limit(client, make_published_run):
    near, far = make_published_run({1000: "4.65"}), make_published_run({1000: "0.56"})
    picture = client.get(compare_url(near, far)).text.split('aria-label="Over 1')[1].split("</svg>")[0]
    places = re.findall(
        r'<text class="value" x="([\d.]+)%" y="\d+" dx="-8" dy="4" text-anchor="end">([\d.]+)<', picture
    )
    assert places == [("34.00", "4.65"), ("34.00", "0.56")]


def test_versions_that_measure_the_same_time_are_not_marked(client, make_published_run):
    runs = make_published_run(tool_version="6.1"), make_published_run(tool_version="6.4")
    heads = client.get(compare_url(*runs)).text.split('<ol class="heads">')[1].split("</ol>")[0]
    assert "ACT 6.1, time in the drive" in heads
    assert "<b>ACT 6.1</b>" not in heads


def test_a_run_is_grey_if_it_does_not_compare_with_any_run_before_it(client, make_run):
    """The run in the middle does not report its record size, so that it compares with both others."""
    runs = [make_run(facts={"record_bytes": size}) for size in (512, None, 1536)]
    assert [run["is_grey"] for run in comparison(client, *runs)["runs"]] == [False, False, True]


def test_six_drives_of_two_groups_are_grey_by_column(client, make_published_run):
    runs = [make_published_run(tool_version=version) for version in ("6.1", "5.2", "6.4", "3", "6.2", "5.3")]
    document = comparison(client, *runs)
    assert [run["is_grey"] for run in document["runs"]] == [False, True, False, True, False, True]
    assert re.search(r" \(B\), .* \(D\) and .* \(F\) are shown in grey\.", client.get(compare_url(*runs)).text)
    assert "are not comparable with the other three: time measured differs" in said(client, *runs)


def test_a_drive_without_a_current_result_is_compared_by_a_withdrawn_one(client, make_product, make_run):
    drive, other = make_product(), make_product()
    withdrawn = make_run(product=drive, visibility=Visibility.WITHDRAWN)
    make_run(product=other)
    response = client.get(f"/compare/?drive={other.slug}&drive={drive.slug}")
    assert response.status_code == 200
    assert f'run {withdrawn.public_id}</a> <span class="fail">withdrawn</span>' in response.text
