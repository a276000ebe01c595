"""Links from the shares in the sentence of a verdict, digits and ranges of shares, and the sentence on a short fail."""

import json

import pytest

from results.models import Profile, Run, Verdict
from results.rules.act.limits import parse_limits
from tests.webapp.register.conftest import SLOW_DISK_VERDICT
from webapp.register.runs.verdict import figures, parts_of, short_fail_sentence, verdict_view


def share(share_pct, number, statistic="worst-slice", over_count=1):
    return {"statistic": statistic, "share_pct": share_pct, "slice": number, "over_count": over_count}


def linked(sentence, **document):
    """The texts that lead somewhere, and where; the parts must join to the sentence again."""
    parts = parts_of(sentence, {"shares": [], "violations": []} | document)
    assert "".join(part.text for part in parts) == sentence
    return [(part.text, part.slice_number) for part in parts if part.slice_number]


def test_a_fail_links_to_its_largest_violation():
    sentence = SLOW_DISK_VERDICT["headline"].removeprefix("fails")
    assert linked(sentence, **SLOW_DISK_VERDICT) == [("0.33 %", 2)]


def test_a_share_with_more_decimals_than_its_document_links_to_its_slice():
    sentence = ": slice 7 (hours 6-7), reads over 1 ms: 5.0004 % > 5 %"
    assert linked(sentence, violations=[{"slice": 7, "share_pct": "5.00"}]) == [("5.0004 %", 7)]


def test_a_pass_links_each_share_to_its_slice():
    sentence = ": at most 4.10 % over 1 ms, 0.10 % over 8 ms and 0.10 % over 64 ms of reads in 24 slices of 3600 s"
    shares = [share("4.10", 3), share("3.90", None, "overall"), share("0.10", 5), share("0.10", 9)]
    assert linked(sentence, shares=shares) == [("4.10 %", 3), ("0.10 %", 5), ("0.10 %", 9)]


@pytest.mark.parametrize(("over_count", "text"), [(0, "0.00 %"), (1, "<0.01 %")])
def test_a_share_that_rounds_to_zero_is_shown_as_less_than_the_last_digit(over_count, text):
    shares = [share("4.10", 3), share("0.00", 5, over_count=over_count)]
    parts = parts_of(": at most 4.10 % over 1 ms and 0.00 % over 8 ms", {"shares": shares, "violations": []})
    assert [part.text for part in parts if part.slice_number] == ["4.10 %", text]


@pytest.mark.parametrize(
    "sentence", [": could not keep up; stopped after 40 s", ": it ran 40 s in slices of 10 s", ": 17 % of reads", ""]
)
def test_a_sentence_without_such_a_share_has_no_link(sentence):
    assert linked(sentence, shares=[share("5.83", 4)], violations=[{"slice": 4, "share_pct": "5.83"}]) == []


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["{}slices/2/", "{}slices/4/"])
def test_links_of_verdict_and_figures_are_answered(client, make_log_run, path):
    page = f"/runs/{make_log_run().public_id}/"
    address = path.format(page)
    text = client.get(page).text
    assert f'<a href="{page}slices/2/" title="Slice 2">0.33\N{NO-BREAK SPACE}%</a>' in text
    assert f'<a class="quiet" href="{address}">' in text
    assert client.get(address).status_code == 200


@pytest.mark.parametrize(
    ("over_count", "share_text", "excess"),
    [(10_004, "1.0004", "1.0004"), (9_996, "0.9996", "0.9996"), (10_000, "1.00", "1.00")],
)
def test_a_violation_next_to_its_limit_shows_on_which_side_it_is(make_log_run, over_count, share_text, excess):
    violation = {"slice": 8, "threshold_us": 8000, "share_pct": "1.00", "limit_pct": "1", "over_count": over_count}
    violation |= {"ops_count": 1_000_000, "excess_ratio": "1.00"}
    run = make_log_run(document=SLOW_DISK_VERDICT | {"violations": [violation]})
    view = verdict_view(run, run.verdicts.get())
    assert [(each["share"], each["excess"]) for each in view["violations"]] == [(share_text, excess)]


def ranges(run):
    return [
        (figure["share"].statistic, figure["text"], figure.get("at_most"), figure.get("log_text"))
        for figure in figures(run, parse_limits(run.verdicts.get().profile.document), run.verdicts.get().document)
        if figure["share"].threshold_us == 1000
    ]


def test_a_share_has_its_range_or_what_a_side_file_counted(client, make_log_run):
    worst, whole = (
        next(
            each
            for each in SLOW_DISK_VERDICT["shares"]
            if (each["statistic"], each["threshold_us"]) == (statistic, 1000)
        )
        for statistic in ("worst-slice", "overall")
    )
    worst, whole = (each | {"read_at_us": 1024} for each in (worst, whole))
    at_most = worst | {"over_at_most_count": worst["over_count"] + 60, "at_most_pct": "6.83"}
    exact = whole | {"over_count": 120, "ops_count": 2_400_000, "share_pct": "0.00"}
    document = SLOW_DISK_VERDICT | {"shares": [at_most, whole], "exact": [exact]}
    run = make_log_run(document=document)
    assert ranges(run) == [
        ("worst-slice", worst["share_pct"], "6.83", None), ("overall", "<0.01", None, "3.04")
    ]  # fmt: skip
    text = client.get(f"/runs/{run.public_id}/").text
    assert "to 6.83" in text
    assert "3.04&nbsp;% in the log, which counts from 1,024\N{NO-BREAK SPACE}us, not from 1\N{NO-BREAK SPACE}ms" in text
    assert "exactly" not in text


def test_a_share_of_a_millisecond_log_has_no_range(make_log_run):
    assert {figure[2:] for figure in ranges(make_log_run())} == {(None, None)}


@pytest.mark.parametrize(
    ("duration_s", "slice_s", "sentence"),
    [
        (7_200, 3_600, "The test ran 2 hours. A short test can fail, but only one of 24 hours can pass."),
        (7_200, 60, "The test ran 2 hours. In slices of 1 hour, it may not fail; a pass needs 24 hours."),
    ],
)
def test_a_short_fail_is_certain_only_in_slices_of_the_profile(duration_s, slice_s, sentence):
    profile = Profile(document=json.dumps({"duration_s": 86_400, "slice_length_s": 3_600}))
    run, verdict = Run(duration_s=duration_s, slice_length_s=slice_s), Verdict(outcome="fail", profile=profile)
    assert short_fail_sentence(run, verdict) == sentence


def test_a_fail_over_the_whole_duration_needs_no_sentence():
    profile = Profile(document=json.dumps({"duration_s": 86_400, "slice_length_s": 3_600}))
    assert short_fail_sentence(Run(duration_s=86_400), Verdict(outcome="fail", profile=profile)) == ""
