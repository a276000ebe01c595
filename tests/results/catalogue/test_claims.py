import shutil

import pytest
from django.core.management import call_command

from results.catalogue.claims import PUBLISHED, import_claims, import_figures
from results.models import Event, PublishedClaim, PublishedFigure, Run

pytestmark = pytest.mark.django_db


def test_every_figure_and_claim_is_imported_once():
    assert (import_figures(), import_claims()) == (196, 62)


def test_a_second_import_adds_nothing():
    import_figures()
    import_claims()
    assert (import_figures(), import_claims()) == (0, 0)
    assert (PublishedFigure.objects.count(), PublishedClaim.objects.count()) == (196, 62)


def test_digits_stay_as_printed():
    import_figures()
    row = PublishedFigure.objects.get(publication="micron-7400-brief", model="7300 PRO", workload="A", threads_count=4)
    assert (row.value, row.unit, row.exactness) == ("12694", "ops/s", "stated")


def test_a_value_read_from_a_chart_is_marked():
    import_figures()
    row = PublishedFigure.objects.get(model="9300 MAX", at_ops_per_s=460000, metric="read_latency_avg")
    assert (row.value, row.exactness) == ("500", "read off a figure")


@pytest.fixture
def edited(tmp_path):
    """Return a function that makes a directory of the published files, with one text of the claims replaced."""

    def edit(before, after):
        for path in PUBLISHED.glob("*.csv"):
            shutil.copy(path, tmp_path)
        path = tmp_path / "published_claims.csv"
        text = path.read_text(encoding="utf-8")
        assert text.count(before) == 1
        path.write_text(text.replace(before, after), encoding="utf-8")
        return tmp_path

    return edit


# The publication claims 44 %, its figures give 43.9 %.
PEAK, WRONG_PEAK = (
    f"micron-7400-brief,peak throughput improvement,A,7400 PRO,7300 PRO,{result}"
    for result in (
        "44,%,max over threads / max over threads - 1,43.9,reproduces",
        "45,%,max over threads / max over threads - 1,43.9,contradicts itself",
    )
)


def test_a_corrected_value_replaces_the_earlier_one(edited):
    import_claims()
    assert import_claims(edited(PEAK, WRONG_PEAK)) == 0
    claim = PublishedClaim.objects.get(stated_value="45")
    assert (claim.status, claim.exact_status) == ("contradicts itself", "contradicts itself")


def test_new_claims_are_an_event_of_their_publication_with_the_outcomes_of_its_pages():
    import_claims()
    events = {event.subject_id: event.details["outcomes"] for event in Event.objects.filter(kind="claims-recomputed")}
    # By the rounded values of the file, one claim of KIOXIA would be contradicted, and charts would not be named.
    assert events == {
        "micron-7400-brief": {"confirmed": 8, "contradicted": 1, "unchecked": 5},
        "kioxia-fl6-brief": {"confirmed": 25, "impossible-input": 4, "unchecked": 1},
        "micron-7450-brief": {"from-chart": 2},
        "micron-x100-paper": {"from-chart": 2, "unchecked": 14},
    }


def test_new_claims_that_use_an_impossible_result_are_counted_in_the_event():
    import_claims()
    events = Event.objects.filter(kind="claims-recomputed")
    assert {event.subject_id: event.details["impossible_claims"] for event in events} == {
        "micron-7400-brief": 0, "kioxia-fl6-brief": 4, "micron-7450-brief": 0, "micron-x100-paper": 0,
    }  # fmt: skip


def test_a_second_import_records_no_event():
    import_claims()
    before = Event.objects.count()
    import_claims()
    assert Event.objects.count() == before


def test_a_claim_with_another_result_is_an_event_with_both_results(edited):
    import_claims()
    before = Event.objects.count()
    import_claims(edited(PEAK, WRONG_PEAK))
    event = Event.objects.get(kind="claim-changed")
    assert Event.objects.count() == before + 1
    assert event.subject_id == PublishedClaim.objects.get(stated_value="45").catalogue_key
    statuses = ["reproduces", "contradicts itself"]
    assert event.details["changes"] == {"stated_value": ["44", "45"], "exact_status": statuses}
    assert (event.details["publication"], event.details["device"]) == ("micron-7400-brief", "7400 PRO")


def test_a_status_of_the_file_alone_is_no_other_result(edited):
    import_claims()
    import_claims(edited(PEAK, PEAK.replace("reproduces", "truncated")))
    assert not Event.objects.filter(kind="claim-changed").exists()


def test_a_claim_that_an_earlier_release_imported_has_no_other_status_for_that(edited):
    import_claims()
    PublishedClaim.objects.update(exact_status="")
    import_claims(edited(PEAK, WRONG_PEAK))
    assert Event.objects.get(kind="claim-changed").details["changes"] == {"stated_value": ["44", "45"]}
    assert not PublishedClaim.objects.filter(exact_status="").exists()


def test_the_command_imports_results_figures_and_claims(capsys):
    call_command("import_catalogue")
    assert "YCSB briefs: 196 figures and 62 claims added." in capsys.readouterr().out
    assert (Run.objects.count(), PublishedFigure.objects.count(), PublishedClaim.objects.count()) == (103, 196, 62)


def test_a_file_with_only_a_header_adds_nothing(tmp_path):
    for path in PUBLISHED.glob("*.csv"):
        head, _, _ = path.read_text(encoding="utf-8").partition("\n")
        (tmp_path / path.name).write_text(f"{head}\n", encoding="utf-8")
    assert (import_figures(tmp_path), import_claims(tmp_path)) == (0, 0)
