"""Access to the intervals of a run: same as to its page, except if its log is withheld."""

import pytest

from results.ingest.queue import sweep
from results.models import EarlierResult, Evidence, Product, Run, Visibility
from tests.results.builders import link_key, log_bytes, send
from tests.results.documents import YCSB_LOG, YCSB_RUN, act_run, answer_with, document_of, series_of
from webapp.accounts.tokens.rules import issue_token

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("evidence_dir")]
LOG = log_bytes("four-us")
OWNERS = {"member", "staff", "link", "token"}


@pytest.fixture
def answers(client, as_user, vera, otto, rita, run):
    """Return a function that requests an address as each kind of user and returns the status for each."""

    def ask(path):
        by_link = {"key": link_key(run.submission)}
        headers = {role: {"Authorization": f"Bearer {token}"} for role, token in tokens(vera, otto).items()}
        got = {
            "stranger": client.get(path),
            "other organisation": as_user(otto).get(path),
            "member": as_user(vera).get(path),
            "staff": as_user(rita).get(path),
            "link": client.get(path, by_link),
        }
        if path.startswith("/api/"):
            got |= {role: client.get(path, headers=header) for role, header in headers.items()}
        for answer in got.values():
            assert not answer.streaming or answer.getvalue()  # read to its end, which closes the file
        return {role: answer.status_code for role, answer in got.items()}

    return ask


def tokens(vera, otto):
    of = {"token": vera, "token of another": otto}
    return {role: issue_token(user, user.memberships.get().organisation, role)[1] for role, user in of.items()}


@pytest.fixture
def run(program, tmp_path, exemplar):
    minutes = series_of([(2, [[{0: 5}, {0: 6}]])])
    answer_with(program, tmp_path, document_of(LOG, runs=[act_run(series=minutes)]))
    send(exemplar, LOG)
    sweep()
    run = Run.objects.get()
    EarlierResult.objects.create(run=run, number=1, reading=run.reading, document={"below": {"series": []}})
    return run


def paths(run):
    page = f"/runs/{run.public_id}/"
    return {
        "page": [page, f"{page}slices.csv"],
        "log": [f"{page}log", f"/api/v1/runs/{run.public_id}/intervals/", f"{page}earlier/1.json"],
    }


def show(visibility):
    product = Product.objects.create(slug="ex", vendor="Exemplar", model="EX", category="nvme-flash")
    Run.objects.update(visibility=visibility, product=product, predates_approvals=True)


@pytest.mark.parametrize("visibility", [Visibility.PUBLIC, Visibility.WITHDRAWN])
def test_everyone_sees_the_intervals_of_a_run_with_a_public_page(run, answers, visibility):
    show(visibility)
    for path in [path for group in paths(run).values() for path in group]:
        assert set(answers(path).values()) == {200}, path


def test_only_owners_staff_and_holders_of_the_link_see_those_of_an_unreviewed_run(run, answers):
    for path in [path for group in paths(run).values() for path in group]:
        got = answers(path)
        assert {role for role, status in got.items() if status == 200} == OWNERS & got.keys(), path
        assert {status for role, status in got.items() if role not in OWNERS} == {404}, path


def test_intervals_of_a_withheld_log_are_hidden_and_its_page_stays(run, answers):
    show(Visibility.PUBLIC)
    Evidence.objects.update(sequestered=True)
    for path in paths(run)["page"]:
        assert set(answers(path).values()) == {200}, path
    for path in paths(run)["log"]:
        assert set(answers(path).values()) == {451}, path


def test_only_owners_see_that_an_unreviewed_log_is_withheld(run, answers):
    Evidence.objects.update(sequestered=True)
    for path in paths(run)["log"]:
        got = answers(path)
        assert {role for role, status in got.items() if status == 451} == OWNERS & got.keys(), path
        assert {status for role, status in got.items() if role not in OWNERS} == {404}, path


def test_an_etag_of_withheld_minutes_is_not_confirmed(run, client):
    show(Visibility.PUBLIC)
    address = f"/api/v1/runs/{run.public_id}/intervals/"
    etag = client.get(address).headers["ETag"]
    Evidence.objects.update(sequestered=True)
    assert client.get(address, headers={"If-None-Match": etag}).status_code == 451


def test_the_page_states_that_minutes_are_withheld_without_links(run, client):
    show(Visibility.PUBLIC)
    assert "minutes JSON" in client.get(f"/runs/{run.public_id}/").text
    Evidence.objects.update(sequestered=True)
    page = client.get(f"/runs/{run.public_id}/").text
    assert "<dt>Minutes</dt><dd>withheld with the log, for legal reasons" in page
    assert "minutes JSON" not in page


def test_status_lines_of_a_withheld_output_are_not_shown(client, program, tmp_path, exemplar):
    answer_with(program, tmp_path, document_of(YCSB_LOG, ycsb_runs=[YCSB_RUN]))
    send(exemplar, YCSB_LOG)
    sweep()
    show(Visibility.PUBLIC)
    page = f"/runs/{Run.objects.get().public_id}/"
    assert "1,200.5" in client.get(page).text
    Evidence.objects.update(sequestered=True)
    assert "1,200.5" not in client.get(page).text
    assert client.get(f"{page}status-lines.csv").status_code == 451
    assert client.get(f"/api/v1{page}intervals/").status_code == 451
