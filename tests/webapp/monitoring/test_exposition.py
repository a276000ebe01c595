import pytest
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext
from prometheus_client.parser import text_string_to_metric_families

from tests.results.stored_files import use_directory
from webapp.monitoring import exposition, groups
from webapp.monitoring.exposition import FORWARDING, may_read
from webapp.monitoring.groups import GROUPS, Group

TOKEN = "a-long-enough-metrics-token"
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_directory(settings, tmp_path):
    settings.DATA_DIR = settings.METRICS_DIR = settings.SNAPSHOT_DIR = tmp_path
    use_directory(settings, tmp_path / "evidence")


def scrape(client, **options):
    response = client.get("/metrics", **options)
    assert response.status_code == 200
    return {family.name: family for family in text_string_to_metric_families(response.content.decode())}


def values(family):
    return {tuple(sample.labels.values()): sample.value for sample in family.samples}


def test_every_group_can_be_read(client):
    families = scrape(client)
    assert values(families["drivecert_group_up"]) == {(group.name,): 1.0 for group in GROUPS}
    assert len({group.name for group in GROUPS}) == len(GROUPS)


@pytest.mark.parametrize("header", [None, *FORWARDING])
@pytest.mark.parametrize("peer", ["127.0.0.1", "::1", "192.0.2.7", ""])
def test_only_a_loopback_peer_without_a_proxy_reads_without_a_token(client, peer, header):
    extra = {"REMOTE_ADDR": peer} | ({header: "192.0.2.9"} if header else {})
    expected = 200 if peer in {"127.0.0.1", "::1"} and header is None else 401
    response = client.get("/metrics", **extra)
    assert response.status_code == expected
    assert response.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("stated", "token", "status"),
    [
        (f"Bearer {TOKEN}", TOKEN, 200),
        (f"bearer {TOKEN}", TOKEN, 200),
        (f"Bearer {TOKEN}x", TOKEN, 401),
        (f"Bearer {TOKEN[:-1]}", TOKEN, 401),
        ("Bearer schlüssel", TOKEN, 401),
        ("Bearer ", TOKEN, 401),
        ("Bearer ", "", 401),
        (f"Basic {TOKEN}", TOKEN, 401),
    ],
)
def test_a_remote_peer_needs_the_token(client, stated, token, status):
    with override_settings(METRICS_TOKEN=token):
        response = client.get(
            "/metrics", REMOTE_ADDR="192.0.2.7", HTTP_X_FORWARDED_FOR="1.2.3.4", HTTP_AUTHORIZATION=stated
        )
    assert response.status_code == status
    if status == 401:
        assert response.headers["WWW-Authenticate"] == 'Bearer realm="metrics"'


def test_a_wrong_token_from_this_machine_is_refused(rf):
    assert not may_read(rf.get("/metrics", HTTP_AUTHORIZATION="Bearer wrong"))


def test_metrics_cannot_be_sent(client):
    assert client.post("/metrics").status_code == 405


@override_settings(ALLOWED_HOSTS=["register.example"], SECURE_SSL_REDIRECT=True)
def test_a_monitoring_server_uses_an_ip_address_and_plain_http(client):
    assert client.get("/metrics", headers={"host": "10.0.0.7:8000"}).status_code == 200


def test_a_group_that_fails_affects_no_other(client, monkeypatch, caplog):
    def fail():
        raise ValueError("broken")
        yield

    monkeypatch.setattr(exposition, "GROUPS", (Group("broken", fail), *GROUPS))
    families = scrape(client)
    assert values(families["drivecert_group_up"]) == {("broken",): 0.0} | {(group.name,): 1.0 for group in GROUPS}
    assert "the group broken could not be read" in caplog.text


def test_without_a_database_the_other_groups_are_read(client, monkeypatch):
    monkeypatch.setattr(exposition, "ask_database", lambda: "does not answer")
    with CaptureQueriesContext(connection) as queries:
        up = values(scrape(client)["drivecert_group_up"])
    assert up == {(group.name,): float(not group.needs_database) for group in GROUPS}
    assert len(queries) == 0


def test_a_scrape_makes_at_most_20_queries(client):
    with CaptureQueriesContext(connection) as queries:
        scrape(client)
    assert 5 < len(queries) <= 20


def test_no_label_names_an_organisation_product_host_or_run(client):
    labels = {name for family in scrape(client).values() for sample in family.samples for name in sample.labels}
    assert labels <= {"part", "kind", "state", "group", "route", "status", "le"}


def test_a_week_of_silence_stands_for_a_part_that_was_never_heard(monkeypatch):
    monkeypatch.setattr(groups, "silences_s", lambda _: {"lab": 2.5})
    silence, limit = groups.heartbeats()
    assert values(silence) == {("worker",): 604800.0, ("lab",): 2.5, ("beat",): 604800.0}
    assert values(limit) == {("worker",): 15.0, ("lab",): 15.0, ("beat",): 15.0}
