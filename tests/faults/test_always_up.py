"""Public pages and files stay available without PostgreSQL, Redis and Celery; none shows a withdrawn run."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

from tests.register import (
    GIVEN_BY_THE_SESSION,
    PATIENCE_S,
    ROOT,
    WITH_USUAL_COLLECTIONS,
    copy_prepared_data,
    free_port,
    sitemap_paths,
    wait_for,
)
from webapp.embedded import Postgres, Redis
from webapp.supervisor.data_directory import DataDirectory

pytestmark = pytest.mark.faults
WITHDRAW = """
from results.lifecycle import visibility
from results.models import Run
from webapp.accounts.models import User
visibility.withdraw(Run.objects.get(public_id="{public_id}"), User.objects.get(username="admin"), "By a test.")
"""
SNAPSHOT_PATIENCE_S = 900  # seven hundred pages, on two busy cores
WITHIN_S = 60  # the register's promise: a withdrawal shows within a minute
ANSWER_S = 30  # the time limit of the page itself on two busy cores


class Site:
    """Servers, web server and worker, each of which can be stopped and is not restarted."""

    def __init__(self, directory):
        self.data_dir, self.port = directory / "var", free_port()
        self.directory = DataDirectory(self.data_dir, durable=False)
        self.directory.create()
        self.postgres, self.redis = Postgres(self.directory), Redis(self.directory)
        self.web = self.worker = None

    def start(self):
        self.postgres.start()
        self.redis.start()
        self.command("prepare")
        granian = ["granian", "--interface", "wsgi", "--host", "127.0.0.1", "--port", str(self.port)]
        self.web = self.process([*granian, "--workers", "1", "--blocking-threads", "4", "webapp.wsgi:application"])
        celery = ["celery", "--app", "webapp.celery", "worker", "--beat", "--queues=drivecert", "--concurrency=1"]
        self.worker = self.process([*celery, "--schedule", str(self.data_dir / "beat"), "--pool=solo"])

    def process(self, command):
        with (self.data_dir / "log" / f"{command[0]}.log").open("w") as log:
            return subprocess.Popen(
                [sys.executable, "-m", *command], cwd=ROOT, env=self.environment(), stdout=log, stderr=log
            )

    def environment(self):
        inherited = {name: value for name, value in os.environ.items() if name not in GIVEN_BY_THE_SESSION}
        own = {"PORT": str(self.port), "DRIVECERT_DATA": str(self.data_dir), "SNAPSHOT_PERIOD_S": "2"}
        own |= {"DATABASE_URL": self.postgres.url, "REDIS_URL": self.redis.url}
        return inherited | own | WITH_USUAL_COLLECTIONS | {"DJANGO_SETTINGS_MODULE": "webapp.settings"}

    def command(self, *arguments):
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def get(self, path):
        """Return status, text and whether the snapshot answered; status 0 if no server responds."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=90) as answer:
                return answer.status, answer.read(), "X-Drivecert-Snapshot" in answer.headers
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read(), False
        except OSError:
            return 0, b"", False

    def pages(self):
        return sitemap_paths(lambda path: self.get(path)[1])

    def files(self):
        """Return the paths of all data files of the snapshot and of the dump."""
        index = json.loads((self.data_dir / "snapshots" / "current" / "index.json").read_text())
        dumped = [f"/data/{path.parent.name}/{path.name}" for path in (self.data_dir / "dumps").glob("20*/*")]
        return [path for path in index["entries"] if not path.endswith("/")] + dumped

    def stop_all_but_web(self):
        end(self.worker)
        self.redis.child.stop()
        self.postgres.child.stop()

    def let_the_snapshot_age(self):
        past = time.time() - 3600
        os.utime(self.data_dir / "snapshots" / "looked-at", (past, past))
        time.sleep(1)  # longer than the web server's check interval

    def stop(self):
        for process in (self.web, self.worker):
            if process is not None:
                end(process)
        self.redis.child.stop()
        self.postgres.child.stop()
        self.directory.remove_sockets()


def end(process):
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(20)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    directory = tmp_path_factory.mktemp("up")
    copy_prepared_data(tmp_path_factory, directory / "var")
    site = Site(directory)
    try:
        site.start()
        wait_for(lambda: site.get("/healthz")[0] == 200)
        wait_for(lambda: site.get("/")[2], patience_s=SNAPSHOT_PATIENCE_S)
        yield site
    finally:
        site.stop()


def test_the_worker_makes_a_snapshot_by_itself_and_a_withdrawal_shows_within_a_minute(site):
    """The checks are one test, because every part is stopped at the end."""
    pages = site.pages()
    assert len(pages) > 190
    run = next(path for path in pages if path.startswith("/runs/"))
    assert site.get(run)[2]
    site.command("shell", "--verbosity=0", "--command", WITHDRAW.format(public_id=run.split("/")[2]))
    wait_for(lambda: b"By a test." in site.get(run)[1], patience_s=WITHIN_S + ANSWER_S)
    wait_for(lambda: site.get(run)[2], patience_s=SNAPSHOT_PATIENCE_S)  # from a snapshot again, and still withdrawn:
    assert b"By a test." in site.get(run)[1]
    site.command("dump")
    wait_for(lambda: b"SHA256SUMS" in site.get("/data/")[1])
    wait_for(lambda: site.get("/data/")[2], patience_s=SNAPSHOT_PATIENCE_S)
    check_everything_is_there_without_servers(site, run)


def check_everything_is_there_without_servers(site, run):
    pages, files = site.pages(), site.files()
    assert len(files) > 500
    before = {path: site.get(path)[1] for path in pages}
    site.stop_all_but_web()
    for age in ("fresh", "old"):
        responses = {path: site.get(path) for path in [*pages, *files]}
        assert {path for path, (status, _, _) in responses.items() if status != 200} == set(), age
        assert {path for path in pages if responses[path][1] != before[path]} == set(), age
        assert b"By a test." in responses[run][1]
        site.let_the_snapshot_age()
    check_parameters_name_the_snapshot(site)
    site.postgres.start()
    wait_for(lambda: site.get("/drives/nvme-flash/?sort=drive")[0] == 200)


def check_parameters_name_the_snapshot(site):
    index = json.loads((site.data_dir / "snapshots" / "current" / "index.json").read_text())
    hour = index["written_at"][11:16]
    for path in ("/drives/nvme-flash/?sort=drive", "/runs/r-22222222/", "/api/v1/runs/"):
        status, content, _ = site.get(path)
        assert status == 503, path
        assert f"{hour} UTC".encode() in content, path
    assert site.get("/healthz")[0] == 200
    assert site.get("/readyz")[0] == 503
