"""The answer of a product's page, in every state that a product can be in."""

from decimal import Decimal

import pytest

from results.models import Visibility, YcsbRun
from results.rules.act.comparison_groups import ComparisonGroup, ReadTime
from results.rules.act.positions import Position
from tests.results.builders import make_organisation
from tests.results.rows import make_judged_run, make_run
from webapp.register.product_pages.answer import noun, speed_sentence
from webapp.templatetags.units import NBSP

pytestmark = pytest.mark.django_db
SUSTAINED = "Its endurance rating allows the tested speed."  # 3 DWPD of 3.2 TB sustain 108,000 tps


@pytest.fixture
def answer_of(context_of):
    """Return a function that returns the answer of a product's page, with plain spaces."""
    return lambda product, query="": context_of(product, query)["answer"].replace(NBSP, " ")


@pytest.mark.parametrize(
    ("position", "sentence"),
    [
        (Position(0, 0, 0), "No other comparable drive is within the limits."),
        (Position(0, 1, 0), "As fast as the other comparable drive."),
        (Position(0, 2, 0), "As fast as each of the 2 other comparable drives."),
        (Position(0, 0, 1), "The fastest of 2 comparable drives."),
        (Position(0, 1, 1), "One of the 2 fastest of 3 comparable drives."),
        (Position(1, 0, 0), "The slowest of 2 comparable drives."),
        (Position(1, 1, 0), "One of the 2 slowest of 3 comparable drives."),
        (Position(1, 0, 7), "Second by speed of 9 comparable drives."),
        (Position(1, 1, 6), "Shared second by speed of 9 comparable drives."),
        (Position(1, 0, 8), "Faster than 89 % of 9 other comparable drives."),
        (Position(150, 0, 1), "Faster than 1 % of 151 other comparable drives."),
        (Position(2, 0, 1198), "Faster than 99 % of 1,200 other comparable drives."),
    ],
)
def test_small_groups_are_counted_and_large_ones_get_a_percentage(position, sentence):
    assert speed_sentence(position, "drive", "drives").replace(NBSP, " ") == sentence


def test_the_fastest_drive_says_so_with_its_endurance(make_ranked, answer_of):
    make_ranked(300_000)
    make_ranked(200_000)
    fastest = make_ranked(864_000)
    assert answer_of(fastest) == (
        "The fastest of 3 comparable NVMe flash drives within the limits. Its endurance rating allows an eighth of "
        "the tested speed."
    )


def test_a_drive_alone_says_that_no_other_comparable_one_is_within_the_limits(make_ranked, answer_of):
    alone = make_ranked(100_000)
    make_ranked(900_000, run={"tool_version": "5.3"})
    make_ranked(900_000, category="sata-sas-flash")
    make_ranked(900_000, historical=True)
    make_ranked(900_000, "6.00")
    assert answer_of(alone) == f"No other comparable NVMe flash drive is within the limits. {SUSTAINED}"


def test_a_historical_drive_is_ranked_among_historical_ones(make_ranked, answer_of):
    make_ranked(900_000)
    make_ranked(50_000, historical=True)
    assert answer_of(make_ranked(100_000, historical=True)).startswith(
        "The fastest of 2 comparable historical NVMe flash drives within the limits."
    )


def test_a_drive_without_a_rating_says_so(make_ranked, answer_of):
    answer = answer_of(make_ranked(100_000, endurance_dwpd=None))
    assert answer.endswith("Its endurance rating is not reported.")


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        ({"tool_version": ""}, "the version of ACT is not reported"),
        ({"compress_pct": 99}, "the test data was compressible"),
    ],
)
def test_a_result_that_is_not_ranked_says_why(make_ranked, answer_of, run, reason):
    answer = answer_of(make_ranked(100_000, run=run))
    assert answer == f"Tested at 100,000 tps within the limits. This drive is not ranked, because {reason}. {SUSTAINED}"


def test_incompressible_data_is_ranked(make_ranked, answer_of):
    make_ranked(50_000)
    assert answer_of(make_ranked(100_000, run={"compress_pct": 100})).startswith("The fastest of 2 comparable")


def test_a_drive_over_its_limits_names_the_share_that_exceeds_its_limit_most(make_ranked, answer_of):
    over = make_ranked(100_000, "5.01")
    assert answer_of(over).startswith(
        "Over a limit at 100,000 tps: 5.01 % of reads took over 1 ms; the limit is 5 %. Its endurance"
    )
    assert answer_of(make_ranked(100_000, "5.00")).startswith("No other comparable NVMe flash drive")


def test_limits_of_the_reader_decide_the_answer(make_ranked, answer_of):
    drive, slower = make_ranked(300_000, "4.00"), make_ranked(200_000, "2.00")
    assert answer_of(slower).startswith("The slowest of 2")
    assert answer_of(slower, "?limit_1ms=3").startswith("No other comparable NVMe flash drive is within the limits.")
    assert "4.00 % of reads took over 1 ms; your limit is 3 %." in answer_of(drive, "?limit_1ms=3")
    assert answer_of(slower, "?limit_1ms=4").startswith("The slowest of 2")


def test_a_drive_without_a_current_result_says_so(make_ranked, answer_of):
    withdrawn = make_ranked(100_000, run={"visibility": Visibility.WITHDRAWN})
    assert answer_of(withdrawn) == "This drive has no current result."


@pytest.mark.parametrize(
    ("visibility", "sentence", "is_said"),
    [
        (Visibility.PUBLIC, "This drive has no current act-storage result, so it is not ranked.", False),
        (Visibility.WITHDRAWN, "This drive has no current result.", True),
    ],
)
def test_a_withdrawn_result_next_to_ycsb_runs_is_no_current_result(
    make_ranked, answer_of, context_of, visibility, sentence, is_said
):
    product = make_ranked(100_000, run={"visibility": Visibility.WITHDRAWN})
    run = make_run(product, workload="ycsb", visibility=visibility)
    YcsbRun.objects.create(run=run, validity="valid", threads_count=4)
    assert (answer_of(product), context_of(product)["has_no_current_result"]) == (sentence, is_said)


def test_a_withdrawn_result_ranks_no_drive(make_ranked, answer_of):
    make_ranked(900_000, run={"visibility": Visibility.WITHDRAWN})
    assert answer_of(make_ranked(100_000)).startswith("No other comparable NVMe flash drive")


def test_a_drive_with_other_workloads_only_is_not_rated(make_ranked, answer_of):
    product = make_ranked(100_000, run={"workload": "act-index"})
    assert answer_of(product) == "This drive has no current act-storage result, so it is not ranked."


def test_a_result_without_a_speed_has_no_headline(make_product, make_published_run, answer_of, context_of):
    product = make_published_run(product=make_product(), tps=None).product
    assert answer_of(product) == "The speed of this drive is not reported."
    assert context_of(product)["headline"].run is None


@pytest.mark.parametrize(
    ("outcome", "sentence"),
    [
        ("fail", "The test at 90,000 tps failed for a reason other than its slow reads."),
        ("undecided", "No verdict at 90,000 tps: the log does not show whether this drive passes."),
        ("void", "No verdict at 90,000 tps: the log of the test is not a valid run."),
    ],
)
def test_a_log_without_a_pass_says_what_its_verdict_is(make_product, answer_of, outcome, sentence):
    make_organisation()
    product = make_product()
    make_judged_run(product, 30, outcome, tool="act_storage", tool_version="6.6")
    assert answer_of(product).startswith(sentence)


def test_of_several_results_one_from_a_log_within_the_limits_comes_first(make_ranked, context_of, make_product):
    product = make_ranked(900_000)
    make_ranked(950_000, "9.00", product=product)
    assert context_of(product)["headline"].speed == "900,000"
    make_judged_run(product, 60, "fail")
    assert context_of(product)["headline"].speed == "900,000"
    passing = make_judged_run(product, 30, tool="act_storage", tool_version="6.6")
    assert context_of(product)["headline"].run == passing


@pytest.mark.parametrize("unranked", [{"compress_pct": 50}, {"tool_version": ""}])
def test_a_faster_result_that_cannot_be_ranked_takes_no_position_away(make_ranked, answer_of, context_of, unranked):
    make_ranked(200_000)
    product = make_ranked(300_000)
    make_ranked(900_000, product=product, run=unranked)
    assert context_of(product)["headline"].speed == "300,000"
    assert answer_of(product).startswith("The fastest of 2 comparable NVMe flash drives within the limits.")
    make_ranked(950_000, "9.00", product=product)
    assert context_of(product)["headline"].speed == "300,000"


def test_an_instance_is_compared_with_instances_of_as_many_devices(make_ranked, answer_of):
    cloud = {"category": "cloud", "capacity_gb": None, "endurance_dwpd": None}
    four = {"device_count": 4, "device_gb": 900}
    instance = make_ranked(400_000, run=four, **cloud)
    make_ranked(300_000, run=four, **cloud)
    make_ranked(900_000, run={"device_count": 8, "device_gb": 900}, **cloud)
    assert answer_of(instance) == "The fastest of 2 comparable cloud instances with 4 devices within the limits."


def test_a_networked_system_has_no_endurance(make_ranked, answer_of, context_of):
    system = make_ranked(400_000, category="networked", run={"device_count": 1})
    assert answer_of(system) == "No other comparable networked storage system is within the limits."
    assert context_of(system)["gap"] is None


def test_several_devices_show_the_speed_of_one(make_ranked, context_of):
    headline = context_of(make_ranked(400_000, run={"device_count": 4}))["headline"]
    assert (headline.speed, "on each of 4 devices, 400,000 tps together" in headline.speed_note) == ("100,000", True)


def test_a_log_without_a_number_of_devices_shows_the_speed_of_all(make_log_run, context_of):
    headline = context_of(make_log_run().product)["headline"]
    assert (headline.speed, "of all devices, whose number is not reported" in headline.speed_note) == ("900", True)


def test_a_published_drive_without_a_number_of_devices_says_that_it_counts_as_one(client, make_ranked):
    sentence = "Counted as one device, because the source states no number of devices."
    make_ranked(300_000)
    assumed = make_ranked(400_000)
    text = client.get(f"/drive/{assumed.slug}/").text
    first_screen, position = text.split('id="position"')
    assert sentence in first_screen
    assert sentence not in position
    assert sentence in client.get(f"/runs/{assumed.runs.get().public_id}/").text
    stated = make_ranked(500_000, run={"device_count": 1})
    assert sentence not in client.get(f"/drive/{stated.slug}/").text
    assert sentence not in client.get(f"/runs/{stated.runs.get().public_id}/").text


def test_words_name_the_number_of_devices_from_two_on():
    groups = [ComparisonGroup(ReadTime.SERVICE, "worst-slice", False, count) for count in (1, 2)]
    assert [noun("m2-flash", group, is_historical=False) for group in groups] == [
        "M.2 flash drives",
        "M.2 flash drives tested 2 at a time",
    ]


def test_the_rating_that_sustains_an_eighth_is_shown_next_to_the_speed(client, make_ranked):
    product = make_ranked(864_000, model="EX4", capacity_gb=3200, endurance_dwpd=Decimal(3))
    text = client.get(f"/drive/{product.slug}/").text
    assert "At 864,000 tps this drive takes 24 drive writes a day; it is rated for 3." in text
    assert "Its rating allows 108,000 tps." in text
    assert "8 times its rating" in text
    run = client.get(f"/runs/{product.runs.get().public_id}/").text
    assert "Its rating allows 108,000 tps." in run
    assert '<svg class="endurance" role="img"' in run
