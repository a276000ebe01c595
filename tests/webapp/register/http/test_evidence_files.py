"""Files as they were received: never rendered, and on a host of its own if there is one."""

from urllib.parse import urlsplit

import pytest
from django.core import signing
from django.test import Client

from results.models import Visibility
from tests.results.builders import link_key
from tests.webapp.register.runs.test_views import keep_log
from webapp.register.http import evidence_files, evidence_host

pytestmark = pytest.mark.django_db

ORIGIN = "https://files.example.org"


@pytest.fixture
def run(make_log_run, evidence_dir):
    return keep_log(make_log_run())


@pytest.fixture
def own_host(settings):
    settings.EVIDENCE_ORIGIN = ORIGIN
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "files.example.org"]


def on_host(path, client=None, **options):
    return (client or Client()).get(path, headers={"host": "files.example.org"}, **options)


def link_of(answer):
    """Return the path of the signed link to which a response redirects."""
    assert answer.status_code == 302
    address = urlsplit(answer.headers["Location"])
    assert f"{address.scheme}://{address.netloc}" == ORIGIN
    return address.path


def assert_is_harmless(answer):
    assert answer.headers["Content-Security-Policy"] == "sandbox"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert not answer.cookies


def assert_is_log(answer):
    assert answer.status_code == 200
    assert answer.headers["Content-Disposition"].startswith("attachment; ")
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert_is_harmless(answer)
    assert b"".join(answer.streaming_content)


@pytest.mark.parametrize("visibility", [Visibility.PUBLIC, Visibility.UNREVIEWED])
def test_the_site_sends_a_file_that_no_browser_renders(client, run, settings, visibility):
    run.visibility = visibility
    run.save()
    settings.SESSION_SAVE_EVERY_REQUEST = True
    client.cookies[settings.SESSION_COOKIE_NAME] = "of a visitor whose session has ended"
    address = f"/runs/{run.public_id}/log?key={link_key(run.submission)}"
    answer = client.get(address)
    assert_is_log(answer)
    assert_is_harmless(client.get(address, headers={"If-None-Match": answer.headers["ETag"]}))


def test_with_a_host_of_its_own_the_page_redirects_there(client, run, own_host):
    answer = client.get(f"/runs/{run.public_id}/log")
    assert answer.headers["Cache-Control"] == "no-store"
    file = on_host(link_of(answer))
    assert_is_log(file)
    assert file.headers["Cache-Control"] == "no-store"


def test_the_page_grants_access_and_not_the_host(client, run, own_host):
    run.visibility = Visibility.UNREVIEWED
    run.save()
    assert client.get(f"/runs/{run.public_id}/log").status_code == 404
    by_link = client.get(f"/runs/{run.public_id}/log?key={link_key(run.submission)}")
    assert_is_log(on_host(link_of(by_link)))
    assert "key" not in by_link.headers["Location"].partition("?")[2]


def test_a_link_is_valid_for_60_seconds(client, run, own_host, monkeypatch):
    path = link_of(client.get(f"/runs/{run.public_id}/log"))
    monkeypatch.setattr(evidence_files, "LINK_AGE_S", -1)
    assert on_host(path).text == evidence_files.NO_FILE
    monkeypatch.undo()
    assert evidence_files.LINK_AGE_S == 60
    assert_is_log(on_host(path))


def test_a_link_is_bound_to_its_file_and_to_this_purpose(client, run, own_host):
    path = link_of(client.get(f"/runs/{run.public_id}/log"))
    link = path.removeprefix("/file/")
    content, _, signature = link.partition(":")
    other = signing.b64_encode(f"[{run.pk},{run.submission.log_id + 1}]".encode()).decode()
    elsewhere = signing.dumps([run.pk, run.submission.log_id], salt="another purpose")
    for forged in (f"{other}:{signature}", elsewhere, link[:-1], f"{link}x", content, ""):
        assert on_host(f"/file/{forged}").status_code == 404


def test_a_file_that_is_withheld_meanwhile_is_not_sent(client, run, own_host):
    path = link_of(client.get(f"/runs/{run.public_id}/log"))
    run.submission.log.sequestered = True
    run.submission.log.save()
    assert on_host(path).status_code == 451
    assert client.get(f"/runs/{run.public_id}/log").status_code == 451


@pytest.mark.parametrize(
    "path", ["/", "/drives/", "/accounts/login/", "/api/v1/runs/", "/static/css/base.css", "/file/"]
)
def test_the_host_serves_nothing_else(client, run, own_host, path):
    answer = on_host(path)
    assert answer.status_code == 404
    assert_is_harmless(answer)
    assert on_host(f"{path}{run.public_id}").status_code == 404


def test_the_site_does_not_serve_the_links_of_the_host(client, run, own_host):
    assert client.get(link_of(client.get(f"/runs/{run.public_id}/log"))).status_code == 404


def test_a_link_is_for_reading_only(client, run, own_host):
    path = link_of(client.get(f"/runs/{run.public_id}/log"))
    assert Client().post(path, headers={"host": "files.example.org"}).status_code == 404


def test_without_a_host_of_its_own_no_name_is_special(settings):
    assert not evidence_host.is_evidence_host("")
    settings.EVIDENCE_ORIGIN = "https://files.example.org:8443"
    names = ["files.example.org", "FILES.example.org:8443", "files.example.org:443", "files.example.org.evil", "x"]
    assert [evidence_host.is_evidence_host(name) for name in names] == [True, True, False, False, False]
