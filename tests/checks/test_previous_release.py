"""Processes of the previous release work on the database of this one: an upgrade migrates while they run."""

import json
import subprocess
import sys
from http.client import HTTPConnection

import pytest
from django.db import connection
from django.test import Client

from results.models import Reading, Run, Submission
from tests.previous_release import COMMIT, SCHEMA, columns_of, environment, extract, is_known
from tests.register import free_port, wait_for
from tests.results.builders import log_bytes, make_organisation, make_user, send
from tests.results.stored_files import use_directory
from webapp.accounts.tokens.rules import issue_token
from webapp.celery import HEARTBEAT_KEY, PARTS, redis_client

PATIENCE_S = 120
COLUMNS = """
SELECT table_name, column_name, is_nullable = 'YES' OR column_default IS NOT NULL OR is_identity = 'YES'
FROM information_schema.columns WHERE table_schema = 'public'
"""
# A statement of the previous release names each of its columns in an INSERT, and each of them in a SELECT.
LOST = "{table}.{column}: the previous release uses it; remove it one release later"
REQUIRED = "{table}.{column}: the previous release does not write it; let it be null, or give it a db_default"


def test_each_table_has_all_columns_of_the_previous_release_and_requires_no_other(db):
    stored = json.loads(SCHEMA.read_text())
    assert stored["commit"] == COMMIT, "write it again: python -m tests.previous_release"
    with connection.cursor() as cursor:
        cursor.execute(COLUMNS)
        present = {}
        for table, column, is_free in cursor.fetchall():
            present.setdefault(table, {})[column] = is_free
    problems = []
    for table, columns in stored["tables"].items():
        found = present.get(table, {})
        problems += [LOST.format(table=table, column=column) for column in columns if column not in found]
        others = found.keys() - set(columns)
        problems += [REQUIRED.format(table=table, column=column) for column in others if not found[column]]
    assert problems == [], "docs/how-to/upgrade-the-register.md, Migrations of a release"


# In a clone without this commit (shallow, or an archive), the comparison of columns is what remains.
if is_known():
    pytestmark = pytest.mark.long
    TASKS = """
import django
django.setup()
from django.conf import settings
from webapp.celery import app
app.loader.import_default_modules()
for name, entry in settings.CELERY_BEAT_SCHEDULE.items():
    app.tasks[entry["task"]].apply(throw=True)
"""
    PAGES = (
        "/", "/about/", "/search/?q=ex4", "/compare/", "/news/", "/nines/", "/sizing/", "/api/v1/runs/",
        "/api/v1/products/", "/readyz",
    )  # fmt: skip

    @pytest.fixture(scope="module")
    def previous(tmp_path_factory):
        """Return the sources of the previous release."""
        return extract(tmp_path_factory.mktemp("previous"))

    @pytest.fixture
    def data_dir(settings, tmp_path):
        """Return the data directory of both releases."""
        settings.DATA_DIR = tmp_path / "var"
        use_directory(settings, tmp_path / "var/evidence")
        return settings.DATA_DIR

    @pytest.fixture
    def web(previous, data_dir, tmp_path):
        """Run the web server of the previous release, and return a function that sends a request to it."""
        port = free_port()
        command = [sys.executable, "-m", "granian", "--interface=wsgi", "--host=127.0.0.1", f"--port={port}"]
        with (tmp_path / "web.log").open("wb") as log:
            command += ["--blocking-threads=2", "--workers-kill-timeout=1", "webapp.wsgi:application"]
            process = subprocess.Popen(command, cwd=previous, env=environment(data_dir), stdout=log, stderr=log)

        def ask(method, path, body=b"", **headers):
            client = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
            try:
                client.request(method, path, body, headers)
                answer = client.getresponse()
                return answer.status, answer.read().decode()
            finally:
                client.close()

        def is_alive():
            try:
                return ask("GET", "/healthz")[0] == 200
            except OSError:
                return False

        try:
            wait_for(is_alive, (tmp_path / "web.log").read_text, PATIENCE_S)
            yield ask
        finally:
            process.terminate()
            process.wait(PATIENCE_S)

    def test_the_stored_columns_are_those_of_the_previous_release(previous):
        assert json.loads(SCHEMA.read_text())["tables"] == columns_of(previous)

    @pytest.mark.django_db(transaction=True)
    def test_web_and_worker_of_the_previous_release_work_on_this_schema(web, previous, data_dir):
        with redis_client(PATIENCE_S) as redis:  # without the signs of life of an earlier test's parts
            redis.delete(*(HEARTBEAT_KEY.format(name=name) for name in PARTS.values()))
        exemplar = make_organisation("exemplar")
        _, secret = issue_token(make_user("vera", exemplar), exemplar, "script")
        send(exemplar, log_bytes("four-us"))
        answers = {path: web("GET", path)[0] for path in PAGES}
        kind = "multipart/form-data; boundary=x"
        head = b'--x\r\nContent-Disposition: form-data; name="log"; filename="load.log"\r\n\r\n'
        body = head + log_bytes("slow-disk-ms") + b"\r\n--x--\r\n"
        headers = {"Authorization": f"Bearer {secret}", "Content-Type": kind}
        status, text = web("POST", "/api/v1/submissions/", body, **headers)
        assert status == 201, text
        # Each periodic task once: both readings are done by the previous release.
        command = [sys.executable, "-c", TASKS]
        done = subprocess.run(
            command, cwd=previous, env=environment(data_dir), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        assert list(Reading.objects.values_list("state", flat=True)) == [Reading.State.DONE] * 2
        assert Run.objects.count() == 2
        assert answers == dict.fromkeys(PAGES, 200) | {"/readyz": 503}  # no worker runs
        # Both releases show what the previous one wrote.
        owner = {"Authorization": f"Bearer {secret}"}
        for submission in Submission.objects.all():
            path = f"/api/v1/submissions/{submission.public_id}/"
            old, new = json.loads(web("GET", path, **owner)[1]), Client(headers=owner).get(path).json()
            assert old["runs"][0]["verdict"]["outcome"] == new["runs"][0]["verdict"]["outcome"]
