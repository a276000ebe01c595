"""Agreement of all implementations of the limits; test_limit_check_script.py tests the script."""

from decimal import Decimal

import pytest
from django.db.models import F

from results.models import Product, Run
from results.rules.act.limits import Limit
from tests.results.rows import judge
from tests.webapp.register.limit_cases import CASES, OWN_PCT, PROFILE_PCT
from webapp.register.drives.limit_check import LimitCheck
from webapp.register.drives.store.column_store import current_store
from webapp.register.limits.reader_limits import read_limits
from webapp.register.tables.evaluation import evaluate_limits

pytestmark = pytest.mark.django_db

PROFILE = [Limit(1000, Decimal(PROFILE_PCT))]
OF_PROFILE, OWN = read_limits({}, PROFILE), read_limits({"limit_1ms": OWN_PCT}, PROFILE)
ANSWERS = [case[3:] for case in CASES]


@pytest.fixture
def runs(make_published_run):
    """A run for each case, in their order."""
    return [make_case(make_published_run, *case[:3]) for case in CASES]


def make_case(make_published_run, outcome, has_reasons, share):
    if not outcome:
        return make_published_run({1000: share})
    run = make_published_run({1000: share}, statistic="worst-slice")
    judge(run, outcome, reasons=["it was too short"] if has_reasons else [])
    return run


def test_a_page_with_all_its_runs_evaluates_every_case(runs):
    results = [evaluate_limits("", run, OWN) for run in runs]
    assert [(result.passes_profile, result.passes_limits) for result in results] == ANSWERS
    assert [evaluate_limits("", run, OF_PROFILE).passes_limits for run in runs] == [profile for profile, _ in ANSWERS]


def test_the_column_store_evaluates_every_case(runs):
    store = current_store()
    checked = LimitCheck(store, OWN)
    rows = [store.runs.index(run.public_id) for run in runs]
    assert [(bool(checked.passes_profile >> row & 1), bool(checked.passes >> row & 1)) for row in rows] == ANSWERS
    assert LimitCheck(store, OF_PROFILE).passes == checked.passes_profile


def test_the_database_evaluates_every_case(runs):
    by_profile, by_yours = Run.objects.within(PROFILE), Run.objects.within([Limit(1000, Decimal(OWN_PCT))], is_own=True)
    assert [(run in by_profile, run in by_yours) for run in runs] == ANSWERS


def test_the_sentence_of_a_drive_names_the_fastest_passing_run(client, runs):
    pages = [client.get(f"/drive/{run.product.slug}/?limit_1ms={OWN_PCT}") for run in runs]
    assert ["Fastest" in page.context["sentence"] for page in pages] == [by_yours for _, by_yours in ANSWERS]


@pytest.mark.parametrize(("query", "at"), [("", 0), (f"limit_1ms={OWN_PCT}", 1)])
def test_a_cluster_is_sized_with_passing_drives(client, runs, query, at):
    offered = {row["product"] for row in client.get(f"/sizing/?format=json&{query}").json()["rows"]}
    assert [run.product.slug in offered for run in runs] == [answer[at] for answer in ANSWERS]


@pytest.mark.parametrize(("query", "at"), [("", 0), (f"limit_1ms={OWN_PCT}", 1)])
def test_the_capacities_of_a_model_have_the_speed_of_passing_runs(client, runs, query, at):
    Product.objects.update(model="EX4", part_number=F("slug"))
    capacities = client.get(f"/drive/{runs[0].product.slug}/?{query}").context["capacities"]
    has_speed = {each["product"].pk: bool(each["speed"]) for each in capacities}
    assert [has_speed[run.product_id] for run in runs] == [answer[at] for answer in ANSWERS]
