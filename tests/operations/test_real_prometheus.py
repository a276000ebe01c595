"""A real Prometheus scrapes a real web server, and a real Alertmanager delivers an alert."""

import json
import os
import shutil
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import yaml
from PIL import Image

from runners.models import Host
from scripts.draw_dashboard import draw_dashboard
from tests.operations.test_rules import DASHBOARD, ROOT, dashboard_expressions
from tests.register import free_port, wait_for
from tests.results.builders import make_organisation, send
from tests.results.fixtures import evidence_dir, no_broker, program, stand_in
from tests.web_server import web_server
from webapp.access_limits.shared_limits import redis
from webapp.celery import HEARTBEAT_KEY, LAST_KEY, PARTS, write_heartbeat
from webapp.monitoring.tallies import update_tallies

__all__ = ["evidence_dir", "no_broker", "program", "stand_in"]
HAS_ALL = all(map(shutil.which, ("prometheus", "prometheus-alertmanager")))
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not HAS_ALL, reason="no prometheus or alertmanager: install both packages"),
    pytest.mark.django_db(transaction=True),
]
TOKEN = "a-long-enough-metrics-token"


@contextmanager
def running(command, log):
    """Run a server until the block ends."""
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        yield
    finally:
        process.terminate()
        process.wait(60)


def get(url):
    with urllib.request.urlopen(url, timeout=10) as response:  # noqa: S310 - our own http address
        return response.read()


def has_data(server, expression):
    query = urllib.parse.urlencode({"query": expression})
    try:
        return bool(json.loads(get(f"{server}/api/v1/query?{query}"))["data"]["result"])
    except (urllib.error.URLError, OSError):
        return False


class Receiver:
    """A receiver of Alertmanager's messages."""

    def __init__(self):
        self.alerts = []
        received = self.alerts

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                received.extend(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["alerts"])
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def named(self, name):
        return [alert for alert in self.alerts if alert["labels"]["alertname"] == name]


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.server.shutdown()
    receiver.server.server_close()


def give_signs_of_life():
    for name in PARTS.values():
        write_heartbeat(redis(), name, 600)


@pytest.fixture
def _filled(settings, tmp_path, evidence_dir, stand_in):
    """Fill the register with one of everything that a panel shows, and let its parts give signs of life."""
    send(make_organisation(), b"a log")
    Host.objects.create(name="local", kind="local")
    update_tallies()
    give_signs_of_life()
    for directory in ("snapshots", "dumps/2026-11-20"):
        (tmp_path / "var" / directory).mkdir(parents=True)
    (tmp_path / "var/snapshots/looked-at").touch()
    yield
    for name in PARTS.values():
        key = HEARTBEAT_KEY.format(name=name)
        redis().delete(key, LAST_KEY.format(key=key))


def configure(directory, register_port, alertmanager_port, receiver):
    """Write the examples of operations/ with the addresses and the short periods of this test."""
    config = yaml.safe_load((ROOT / "operations/prometheus/prometheus.yml").read_text())
    config["global"] = {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"}
    config["alerting"]["alertmanagers"][0]["static_configs"][0]["targets"] = [f"127.0.0.1:{alertmanager_port}"]
    config["scrape_configs"][0]["static_configs"][0]["targets"] = [f"127.0.0.1:{register_port}"]
    (directory / "token").write_text(TOKEN)
    config["scrape_configs"][0]["authorization"] = {"credentials_file": str(directory / "token")}
    (directory / "prometheus.yml").write_text(yaml.safe_dump(config))
    rules = yaml.safe_load((ROOT / "operations/prometheus/alerts.yml").read_text())
    for rule in rules["groups"][0]["rules"]:
        rule["for"] = "0s"
    (directory / "alerts.yml").write_text(yaml.safe_dump(rules))
    manager = yaml.safe_load((ROOT / "operations/alertmanager/alertmanager.yml").read_text())
    manager["route"]["group_wait"] = "0s"
    manager["receivers"][0]["webhook_configs"][0]["url"] = f"http://127.0.0.1:{receiver.server.server_port}/"
    (directory / "alertmanager.yml").write_text(yaml.safe_dump(manager))


def commands(directory, prometheus_port, alertmanager_port):
    prometheus = ["prometheus", f"--config.file={directory}/prometheus.yml", f"--storage.tsdb.path={directory}/tsdb"]
    prometheus += [f"--web.listen-address=127.0.0.1:{prometheus_port}"]
    alertmanager = ["prometheus-alertmanager", f"--config.file={directory}/alertmanager.yml"]
    alertmanager += [f"--storage.path={directory}/alerts", "--cluster.listen-address="]
    return prometheus, [*alertmanager, f"--web.listen-address=127.0.0.1:{alertmanager_port}"]


@pytest.mark.usefixtures("_filled")
def test_every_panel_has_data_and_a_dead_beat_reaches_the_receiver(tmp_path, receiver):
    prometheus_port, alertmanager_port = free_port(), free_port()
    server = f"http://127.0.0.1:{prometheus_port}"
    with web_server(tmp_path, METRICS_TOKEN=TOKEN) as register:
        get(f"http://127.0.0.1:{register.port}/about/")
        configure(tmp_path, register.port, alertmanager_port, receiver)
        prometheus, alertmanager = commands(tmp_path, prometheus_port, alertmanager_port)
        with running(alertmanager, tmp_path / "alertmanager.log"), running(prometheus, tmp_path / "prometheus.log"):
            missing = dashboard_expressions()

            def all_have_data():
                give_signs_of_life()
                missing[:] = [expression for expression in missing if not has_data(server, expression)]
                get(f"http://127.0.0.1:{register.port}/about/")
                return not missing

            wait_for(all_have_data, lambda: f"without data: {missing}", patience_s=60)
            picture = Path(os.environ.get("DASHBOARD_PICTURE", tmp_path / "dashboard.png"))

            def is_drawn():
                give_signs_of_life()
                return draw_dashboard(server, picture, minutes=1) == []

            wait_for(is_drawn, patience_s=60)
            with Image.open(picture) as image:
                assert image.width == 3 * 560
                assert image.height == -(-len(DASHBOARD["panels"]) // 3) * 300
            assert receiver.named("BeatSilent") == []
            key = HEARTBEAT_KEY.format(name="beat")
            redis().delete(key, LAST_KEY.format(key=key))
            wait_for(lambda: receiver.named("BeatSilent"), lambda: str(receiver.alerts), patience_s=60)
    (alert,) = receiver.named("BeatSilent")[:1]
    assert (alert["status"], alert["labels"]["severity"], alert["labels"]["part"]) == ("firing", "critical", "beat")
    assert alert["annotations"]["runbook"] == "docs/how-to/alerts.md#beatsilent"
