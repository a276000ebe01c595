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


def test_a_corrected_value_replaces_the_earlier_one(tmp_path):
    import_claims()
    corrected = (PUBLISHED / "published_claims.csv").read_text().replace(",43.9,reproduces", ",43.8,truncated")
    (tmp_path / "published_claims.csv").write_text(corrected)
    assert import_claims(tmp_path) == 0
    assert PublishedClaim.objects.get(recomputed_value="43.8").status == "truncated"


def test_new_claims_are_an_event_of_their_publication():
    import_claims()
    events = {event.subject_id: event.details["statuses"] for event in Event.objects.filter(kind="claims-recomputed")}
    claims = PublishedClaim.objects.filter(publication="micron-7400-brief")
    assert sum(events["micron-7400-brief"].values()) == claims.count()
    assert sum(sum(statuses.values()) for statuses in events.values()) == 62
    assert events["micron-7400-brief"]["reproduces"] == claims.filter(status="reproduces").count()


def test_a_second_import_records_no_event():
    import_claims()
    before = Event.objects.count()
    import_claims()
    assert Event.objects.count() == before


def test_a_claim_with_another_result_is_an_event_with_both_results(tmp_path):
    import_claims()
    before = Event.objects.count()
    text = (PUBLISHED / "published_claims.csv").read_text()
    (tmp_path / "published_claims.csv").write_text(text.replace(",43.9,reproduces", ",43.8,truncated"))
    import_claims(tmp_path)
    event = Event.objects.get(kind="claim-changed")
    assert Event.objects.count() == before + 1
    assert event.subject_id == PublishedClaim.objects.get(recomputed_value="43.8").catalogue_key
    assert event.details["changes"] == {"recomputed_value": ["43.9", "43.8"], "status": ["reproduces", "truncated"]}
    assert (event.details["publication"], event.details["device"]) == ("micron-7400-brief", "7400 PRO")


def test_the_command_imports_results_figures_and_claims(capsys):
    call_command("import_catalogue")
    assert "YCSB briefs: 196 figures and 62 claims added." in capsys.readouterr().out
    assert (Run.objects.count(), PublishedFigure.objects.count(), PublishedClaim.objects.count()) == (103, 196, 62)


def test_a_file_with_only_a_header_adds_nothing(tmp_path):
    for path in PUBLISHED.glob("*.csv"):
        head, _, _ = path.read_text(encoding="utf-8").partition("\n")
        (tmp_path / path.name).write_text(f"{head}\n", encoding="utf-8")
    assert (import_figures(tmp_path), import_claims(tmp_path)) == (0, 0)
