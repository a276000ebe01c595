"""Monthly summaries: counted from the events, in UTC, and unchanged once the month has ended."""

import pytest

from results.catalogue.claims import import_claims
from results.history import record_event, run_subject
from results.lifecycle import visibility
from results.lifecycle.corrections import annotate
from results.models import EarlierResult, Product, Run, Verdict
from tests.results.builders import make_user
from tests.webapp.register.conftest import SLOW_DISK_VERDICT
from tests.webapp.register.news.conftest import publish_at
from webapp.register.news import summary
from webapp.register.news.events import first_change
from webapp.register.news.months import Month
from webapp.register.news.summary import SHOWN_IN_GROUP

pytestmark = pytest.mark.django_db
NOVEMBER, DECEMBER = Month(2026, 11), Month(2026, 12)
PASSING = SLOW_DISK_VERDICT | {"outcome": "pass", "headline": "passes", "shares": [], "violations": [], "reasons": []}


@pytest.fixture
def rita(db):
    return make_user("rita", is_reviewer=True)


def summary_of(month):
    return summary.summary_of(month, first_change())


def groups(summary):
    return {section.group.value: section.total for section in summary.sections}


def test_a_register_that_was_only_opened_reads_well(import_results):
    import_results(3)
    summary = summary_of(NOVEMBER)
    assert summary.sentence == "The register opened with 3 published results."
    assert [(line.title, line.published_count, line.logs_count) for line in summary.lines] == [("NVMe flash", 3, 0)]
    assert summary.lines[0].historical_count == 0
    Product.objects.filter(runs=Run.objects.first()).update(historical=True)
    assert summary_of(NOVEMBER).lines[0].historical_count == 1


def test_the_sentence_counts_each_kind_of_change(clock, import_results, publish, rita):
    import_results(2)
    import_claims()
    run = publish()
    visibility.withdraw(publish(), rita, "Wrong drive.")
    annotate(run, "A note.", rita)
    annotate(run, "Another note.", rita)
    assert summary_of(NOVEMBER).sentence == (
        "The register opened with 2 published results. In November 2026, the register published 2 results from logs, "
        "withdrew 1 result, checked the claims of 4 publications and made 2 other changes."
    )


def test_results_after_the_opening_are_new_ones(clock, import_results):
    clock.set(2026, 11, 2)
    import_results(3)
    clock.set(2026, 11, 20)
    import_results(2)
    summary = summary_of(NOVEMBER)
    assert summary.sentence == (
        "The register opened with 3 published results. In November 2026, the register added 2 published results."
    )
    added, opened = (change.sentence for change in summary.sections[0].changes)
    assert opened.startswith("The register opened with 3 published results.")
    assert added.startswith("The register added 2 published results.")


def test_later_imports_are_counted_as_new(clock, publish, import_results):
    publish()
    clock.set(2026, 12, 3)
    import_results(2)
    assert summary_of(DECEMBER).sentence == "In December 2026, the register added 2 published results."


def test_a_month_without_a_change_says_so(clock, publish):
    publish()
    clock.set(2026, 12, 31)
    assert summary_of(DECEMBER).sentence == "The register has had no public change in December 2026."
    clock.set(2027, 1, 1)
    summary = summary_of(DECEMBER)
    assert summary.sentence == "The register had no public change in December 2026."
    assert (summary.lines, summary.sections) == ([], [])


def test_the_first_moment_belongs_to_the_month_and_the_last_one_to_the_month_before(clock, make_log_run):
    last, first = make_log_run(), make_log_run()
    publish_at(clock, last, 2026, 11, 30, 23, 59, 59)
    publish_at(clock, first, 2026, 12, 1)
    pages = [[change.page for change in summary_of(month).sections[0].changes] for month in (NOVEMBER, DECEMBER)]
    assert pages == [[f"/runs/{last.public_id}/"], [f"/runs/{first.public_id}/"]]
    assert [summary_of(month).lines[0].logs_count for month in (NOVEMBER, DECEMBER)] == [1, 1]


def test_an_ended_month_does_not_change_with_later_events(clock, publish, import_results, rita):
    import_results(2)
    run = publish(document=PASSING)
    clock.set(2026, 12, 2)
    before = summary_of(NOVEMBER)
    publish(document=PASSING, tps=5000)
    record_event(None, "run-judged-anew", run_subject(run), "", {"kind": "shares"})
    EarlierResult.objects.create(
        run=run,
        number=1,
        reading=run.reading,
        verdict=run.verdicts.get(),
        document={"columns": {"tps": "900.00", "device_count": 1}},
    )
    Run.objects.filter(pk=run.pk).update(tps=77)
    add_verdict_of(run, "fail")
    after = summary_of(NOVEMBER)
    assert after == before
    assert after.lines[0].fastest_log.speed == "900 tps"


def add_verdict_of(run, outcome):
    newest = run.verdicts.first()
    Verdict.objects.create(
        run=run, profile=newest.profile, outcome=outcome, headline=outcome, document=newest.document, reader_version="9"
    )


def test_a_later_withdrawal_is_a_mark(clock, publish, rita):
    run = publish(document=PASSING)
    clock.set(2026, 12, 2)
    visibility.withdraw(run, rita, "Wrong drive.")
    summary = summary_of(NOVEMBER)
    assert [change.mark for change in summary.sections[0].changes] == ["later withdrawn"]
    assert summary.lines[0].fastest_log.mark == "later withdrawn"
    assert groups(summary) == {"results": 1}
    assert groups(summary_of(DECEMBER)) == {"withdrawals": 1}


def test_the_fastest_result_of_a_log_passes(publish):
    publish(tps=9000)  # fails
    publish(document=PASSING, tps=1000)
    fastest = publish(document=PASSING, tps=2000)
    (line,) = summary_of(NOVEMBER).lines
    assert (line.logs_count, line.fastest_log.run, line.fastest_published) == (3, fastest, None)


def test_the_fastest_result_is_that_of_one_device(publish):
    alone = publish(document=PASSING, tps=2000, device_count=1)
    publish(document=PASSING, tps=3000, device_count=2)
    assert summary_of(NOVEMBER).lines[0].fastest_log.run == alone


def test_a_log_without_a_number_of_devices_is_not_the_fastest(publish):
    publish(document=PASSING, tps=2000, device_count=None)
    assert summary_of(NOVEMBER).lines[0].fastest_log is None


def test_published_results_are_never_compared_with_those_of_logs(publish, import_results):
    import_results(1, tps=300_000)
    within = publish(document=PASSING, tps=900)
    (line,) = summary_of(NOVEMBER).lines
    assert (line.fastest_log.run, line.fastest_published.speed) == (within, "300,000 tps")


def test_a_published_result_over_a_limit_is_not_the_fastest(import_results):
    import_results(1, tps=500_000, shares={1000: "5.01", 8000: "0.10", 64000: "0.00"})
    assert summary_of(NOVEMBER).lines[0].fastest_published is None
    import_results(1, tps=400_000, shares={1000: "5.00", 8000: "0.10", 64000: "0.00"})
    assert summary_of(NOVEMBER).lines[0].fastest_published.speed == "400,000 tps"


def test_a_speed_that_a_catalogue_corrected_later_stays_as_it_was(clock, import_results):
    (run,) = import_results(1, tps=300_000)
    clock.set(2026, 12, 2)
    record_event(None, "run-changed", run_subject(run), "", {"tps": ["300000", "310000"]})
    Run.objects.filter(pk=run.pk).update(tps=310_000)
    assert summary_of(NOVEMBER).lines[0].fastest_published.speed == "300,000 tps"
    clock.set(2026, 12, 3)
    assert (
        "speed from 300,000\N{NO-BREAK SPACE}tps to 310,000\N{NO-BREAK SPACE}tps"
        in summary_of(DECEMBER).sections[0].changes[0].sentence
    )


WITHIN, OVER = {"1000": "5.00", "8000": "0.10"}, {"1000": "5.01", "8000": "0.10"}


@pytest.mark.parametrize(
    ("shares", "changes", "speed"),
    [
        (OVER, {"printed_shares": [WITHIN, OVER]}, "300,000 tps"),
        (WITHIN, {"printed_shares": [OVER, WITHIN]}, None),
        (WITHIN, {"device_count": ["2", "None"]}, "300,000 tps, 2 devices together"),
        (WITHIN, {"device_count": ["None", "2"]}, "300,000 tps"),
    ],
)
def test_values_that_a_catalogue_corrected_later_stay_as_they_were(clock, import_results, shares, changes, speed):
    (run,) = import_results(1, shares={int(threshold_us): printed for threshold_us, printed in shares.items()})
    clock.set(2026, 12, 2)
    record_event(None, "run-changed", run_subject(run), "", changes)
    fastest = summary_of(NOVEMBER).lines[0].fastest_published
    assert (fastest and fastest.speed) == speed


def test_the_oldest_of_several_later_corrections_has_the_values_of_the_month(clock, import_results):
    (run,) = import_results(1, tps=330_000)
    record_event(None, "run-changed", run_subject(run), "", {"tps": ["290000", "300000"]})  # in the month itself
    for day, before, after in ((2, "300000", "310000"), (3, "310000", "330000")):
        clock.set(2026, 12, day)
        record_event(None, "run-changed", run_subject(run), "", {"tps": [before, after]})
    assert summary_of(NOVEMBER).lines[0].fastest_published.speed == "300,000 tps"


def test_a_run_that_is_found_to_be_on_a_virtual_device_later_stays(clock, publish):
    run = publish(document=PASSING)
    clock.set(2026, 12, 2)
    columns = {"tps": "900.00", "device_count": 1, "facts": {}}
    EarlierResult.objects.create(
        run=run, number=1, reading=run.reading, verdict=run.verdicts.get(), document={"columns": columns}
    )
    Run.objects.filter(pk=run.pk).update(facts={"is_virtual_device": True})
    assert summary_of(NOVEMBER).lines[0].fastest_log.run == run


def test_a_group_shows_its_newest_changes_and_where_the_others_are(clock, publish, import_results):
    run = publish()
    for _ in range(SHOWN_IN_GROUP):
        record_event(None, "run-annotated", run_subject(run), "x")
    section = summary_of(NOVEMBER).sections[-1]
    assert (section.total, len(section.changes), section.older_than) == (SHOWN_IN_GROUP, SHOWN_IN_GROUP, None)
    record_event(None, "run-annotated", run_subject(run), "y")
    section = summary_of(NOVEMBER).sections[-1]
    assert (section.total, len(section.changes)) == (SHOWN_IN_GROUP + 1, SHOWN_IN_GROUP)
    assert section.older_than == section.changes[-1].event_id
