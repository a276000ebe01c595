"""The output of `manage.py check_claims`."""

import pytest
from django.core.management import CommandError, call_command

from results.catalogue import claims as catalogue_claims
from results.catalogue.claims import PUBLISHED
from results.management.commands import check_claims


def test_the_command_prints_every_claim_and_the_anomalies(capsys):
    call_command("check_claims")
    report_text = capsys.readouterr().out
    assert "62 of 62 claims as recorded" in report_text
    assert "* line 38: 16.5, reproduces; exactly 16.5248: truncated" in report_text
    assert (
        "~ line 49: read from a chart, accurate to one digit: 10.3 to 18.8; agrees as far as it was read off"
        in report_text
    )
    assert (
        "~ line 46: read from a chart, accurate to one digit: 1.2 to 5.6; agrees at the points as read, "
        "which decide little" in report_text
    )
    assert "~ line 45: 'small' is no number: in words, not judged" in report_text
    assert (
        "kioxia-fl6-brief, TLC PCIe 4.0, workload A: throughput x mean latency is 135.1 operations in flight"
        in report_text
    )
    assert report_text.count("micron-7400-brief") == 14


def test_a_file_that_contradicts_its_figures_fails_the_command(tmp_path, monkeypatch, capsys):
    for path in PUBLISHED.glob("*.csv"):
        text = path.read_text().replace(",43.9,reproduces", ",43.8,reproduces")
        (tmp_path / path.name).write_text(text)
    rows = catalogue_claims.check_published_claims(tmp_path)
    monkeypatch.setattr(check_claims, "check_published_claims", lambda: rows)
    with pytest.raises(CommandError, match="lines 2 are not what their figures give"):
        call_command("check_claims")
    assert "line 2: recorded 43.8, reproduces; exactly 43.9" in capsys.readouterr().out
