"""kill -9 of the reading process: the next sweep repeats the reading at once, and there is one run."""

import os
import subprocess
import sys
from urllib.parse import quote

import pytest
from django.db import connection

from results.ingest.queue import sweep
from results.models import Evidence, Reading, Run
from tests.results.builders import is_running, log_bytes, make_organisation, send, wait_for
from tests.results.fixtures import STAND_IN, evidence_dir, program

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]

__all__ = ["evidence_dir", "program"]

WORKER = "import sys, django; django.setup(); from results.ingest.queue import read_one; read_one(int(sys.argv[1]))"


def start_worker(reading_id, drivetest, evidence_dir, temporary):
    database = connection.settings_dict
    user = f"{quote(database['USER'])}:{quote(database['PASSWORD'])}"
    url = f"postgresql://{user}@/{database['NAME']}?host={quote(database['HOST'])}&port={database['PORT']}"
    # The store is DRIVECERT_DATA/evidence.
    ours = {"DJANGO_SETTINGS_MODULE": "webapp.settings", "DATABASE_URL": url, "DRIVETEST": str(drivetest)}
    environment = os.environ | ours | {"DRIVECERT_DATA": str(evidence_dir.parent), "TMPDIR": str(temporary)}
    return subprocess.Popen([sys.executable, "-c", WORKER, str(reading_id)], env=environment)


def test_a_reading_survives_its_worker(evidence_dir, program, tmp_path):
    blocks_once = f'if [ -e {tmp_path}/pid ]; then exec {sys.executable} -I {STAND_IN} "$@"; fi'
    version = '[ "$1" = --version ] && echo drivetest 0.1.0 && exit 0'
    drivetest = program(f"{version}\n{blocks_once}\necho $$ > {tmp_path}/pid; exec sleep 600")
    submission = send(make_organisation(), log_bytes("four-us"))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    worker = start_worker(Reading.objects.get().pk, drivetest, evidence_dir, temporary)
    reader_pid = int(wait_for(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text()))
    assert sweep() == 0  # it is being read

    worker.kill()
    worker.wait()
    wait_for(lambda: sweep() == 1)
    assert (Reading.objects.get().state, Reading.objects.get().attempts) == ("done", 2)
    assert (submission.runs.count(), Run.objects.count(), Evidence.objects.count()) == (1, 1, 1)
    wait_for(lambda: not is_running(reader_pid))
    assert list(temporary.iterdir()) == []
