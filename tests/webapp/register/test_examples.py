"""Example runs: at their own addresses with the label, linked from two pages, and in nothing else that is public."""

import gzip
import re

import pytest

from results.models import Finding, Run, Visibility
from tests.webapp.register.conftest import SLOW_DISK_VERDICT, make_submission
from webapp.register.dumps.writer import write_dump
from webapp.register.runs.requirements import OF_DRIVES, OF_RESULT
from webapp.register.syndication.public_addresses import public_addresses

pytestmark = pytest.mark.django_db
ID = "demo-loop"
LABEL = "Demonstration: a loop device, not a drive."
LINKED_FROM = {"/", "/explain/", "/try/"}
NOINDEX = '<meta name="robots" content="noindex">'


@pytest.fixture
def make_example(make_log_run):
    def make(public_id=ID, **fields):
        stated = {"is_demo": True, "is_virtual": True, "product": None, "device_count": 1, "nx_load": "0.5"}
        return make_log_run(public_id=public_id, **stated | fields)

    return make


VERSION = re.compile(rb'"version": ?"[0-9a-f]+"')  # of the tables' data: any change of any run, also a hidden one


def bytes_by_path(client):
    """Return the content of every public address, without the version of the tables' data."""
    paths = {address.path for address in public_addresses()}
    return {path: VERSION.sub(b"", b"".join(client.get(path))) for path in sorted(paths)}


@pytest.fixture
def shown(make_log_run):
    """A public run of a drive, which every list has."""
    return make_log_run()


def test_no_list_count_file_or_feed_changes_when_an_example_is_shown(client, shown, make_example):
    before = bytes_by_path(client)
    example = make_example()
    after = bytes_by_path(client)
    assert {path for path in after if after[path] != before.get(path)} == LINKED_FROM
    assert any(shown.public_id.encode() in content for content in before.values())
    naming = {path for path, content in after.items() if example.public_id.encode() in content}
    assert naming == LINKED_FROM


def test_the_two_links_leave_with_the_example(client, shown, make_example):
    without = bytes_by_path(client)
    example = make_example()
    assert f'<a href="/runs/{ID}/">a complete example run</a>' in client.get("/").text
    Run.objects.filter(pk=example.pk).update(visibility=Visibility.UNREVIEWED)
    assert bytes_by_path(client) == without


@pytest.mark.parametrize(
    "path", ["/api/v1/runs/", "/api/v1/products/", "/drives/?withdrawn=1", "/sizing/?reads=1000&writes=500"]
)
def test_no_answer_to_a_query_has_an_example(client, shown, make_example, path):
    before = client.get(path).content
    make_example()
    assert client.get(path).content == before


@pytest.mark.parametrize("path", ["/api/v1/runs/{}/", "/compare/?run={}"])
def test_only_its_own_page_finds_an_example_by_its_id(client, shown, make_example, path):
    make_example()
    assert client.get(path.format(shown.public_id)).status_code in {200, 301, 302}
    assert client.get(path.format(ID)).status_code in {400, 404}
    assert client.get(f"/runs/{ID}/").status_code == 200


def test_its_short_address_leads_to_its_page_while_it_is_shown(client, make_example):
    assert client.get(f"/id/{ID}").status_code == 404
    example = make_example()
    response = client.get(f"/id/{ID}")
    assert (response.status_code, response["Location"]) == (301, f"/runs/{ID}/")
    assert client.get("/id/demo-other").status_code == 404
    Run.objects.filter(pk=example.pk).update(visibility=Visibility.UNREVIEWED)
    assert client.get(f"/id/{ID}").status_code == 404


def test_the_page_says_why_a_demonstration_is_not_cited(client, shown, make_example):
    make_example()
    sentence = "Do not cite this page: a demonstration says nothing about a drive."
    example, other = client.get(f"/runs/{ID}/").text, client.get(f"/runs/{shown.public_id}/").text
    assert (sentence in example, sentence in other) == (True, False)
    assert ("As BibTeX" in example, "As BibTeX" in other) == (False, True)
    assert "http://127.0.0.1:8000/id/demo-loop" in example.replace("<wbr>", "")


def test_a_dump_has_no_example(data_dir, shown, make_example):
    make_example()
    directory = write_dump()
    found = {row["public_id"] for row in Run.objects.public().values("public_id")}
    assert found == {shown.public_id}
    texts = b"".join(gzip.decompress(path.read_bytes()) for path in directory.glob("*.gz"))
    assert shown.public_id.encode() in texts
    assert ID.encode() not in texts


def test_the_page_has_the_label_and_is_not_for_search_engines(client, shown, make_example):
    make_example()
    example, other = client.get(f"/runs/{ID}/"), client.get(f"/runs/{shown.public_id}/")
    assert (LABEL in example.text, LABEL in other.text) == (True, False)
    assert (NOINDEX in example.text, NOINDEX in other.text) == (True, False)
    assert (example.headers.get("X-Robots-Tag"), other.headers.get("X-Robots-Tag")) == ("noindex", None)
    compare = '<a class="also" href="/compare/?run='
    assert (compare in example.text, compare in other.text) == (False, True)
    assert "Example run on a loop device" in example.text
    assert "Not public." not in example.text


@pytest.mark.parametrize("path", ["slices.csv", "over-time.json", "over-time.csv", "histograms.csv", "slices/1/"])
def test_its_data_answers_like_that_of_any_run(client, shown, make_example, path):
    make_example()
    for run_id in (ID, shown.public_id):
        answer = client.get(f"/runs/{run_id}/{path}")
        assert (answer.status_code, bool(b"".join(answer))) == (200, True)
        assert answer.headers["Cache-Control"] == "public, max-age=60"


def test_the_page_of_a_slice_has_the_label(client, shown, make_example):
    make_example()
    assert LABEL in client.get(f"/runs/{ID}/slices/1/").text
    assert LABEL not in client.get(f"/runs/{shown.public_id}/slices/1/").text


def test_a_removed_example_is_found_by_no_visitor(client, make_example):
    make_example(visibility=Visibility.UNREVIEWED)
    assert client.get(f"/runs/{ID}/").status_code == 404
    assert client.get(f"/runs/{ID}/slices.csv").status_code == 404


def test_the_page_has_the_ladder_and_the_missing_requirements_and_another_page_has_neither(client, shown, make_example):
    make_example()
    make_example("demo-loop-heavy", nx_load="1.25")
    text = client.get(f"/runs/{ID}/").text
    load = '<td class="n"><span class="only-phone">load </span>'
    assert f'<th scope="row">{ID} <span class="sub">this run</span></th>{load}0.5x</td>' in text
    assert f'<a href="/runs/demo-loop-heavy/">demo-loop-heavy</a></th>{load}1.25x</td>' in text
    requirements = text.split('<h2 id="certificate">')[1].split("</details>")[0]
    listed = re.findall(r"<li><b>([^<]+)</b>: ", requirements)
    assert sorted(listed) == sorted(name for name, _ in [*OF_RESULT.values(), *OF_DRIVES.values(), ("Stress test", "")])
    assert "An example run never leads to a certificate, because it used a loop device" in requirements
    missing = requirements.split("<p>Missing:</p>")[1].count("<li>")
    link = f'<a href="#certificate">Missing for a certificate: {missing} of {len(listed)} requirements</a>'
    assert link in text.split('<dl class="figs')[0]
    other = client.get(f"/runs/{shown.public_id}/").text
    assert ('id="ladder"' in other, "An example run never" in other) == (False, False)
    assert '<a href="#certificate">Missing for a certificate: ' in other.split('<dl class="figs')[0]


def test_the_ladder_names_a_lower_load_with_a_larger_share(client, make_example):
    worst, *others = SLOW_DISK_VERDICT["shares"]
    slower = SLOW_DISK_VERDICT | {"shares": [worst | {"over_count": 700, "share_pct": "11.66"}, *others]}
    make_example()
    make_example("demo-loop-heavy", nx_load="1.25")
    page = f"/runs/{ID}/"
    assert "Something other than the load" not in client.get(page).text  # equal shares
    light = make_example("demo-loop-light", nx_load="0.25", document=slower)
    sentence = "At 0.25x, the share over 1 ms is 11.66 %, larger than 5.83 % at 0.5x. Something other than the load"
    text = client.get(page).text.replace("\N{NO-BREAK SPACE}", " ")
    assert sentence in text
    assert "name the host" not in text
    Finding.objects.create(run=light, ordinal=9, rule_id="host-busy", severity="look", sentence="busy")
    assert "The findings of its run name the host as a possible cause." in client.get(page).text


def test_its_submission_is_not_in_the_review_queue_and_another_one_is(
    staff_client, make_example, make_log_run, organisation
):
    example = make_example(visibility=Visibility.UNREVIEWED)
    example.submission.demo_run_id = ID
    example.submission.save()
    waiting = make_log_run(visibility=Visibility.UNREVIEWED)
    text = staff_client.get("/submissions/review/").text
    assert (waiting.submission.public_id in text, example.submission.public_id in text) == (True, False)
    assert make_submission(organisation).demo_run_id == ""
