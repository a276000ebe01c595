"""The script of the guide "Submit a log with a script", against a web server."""

import os
import re
import subprocess
import sys

import pytest
from django.conf import settings as project

from results.ingest.queue import sweep
from results.models import DraftReading, Submission
from tests.results.builders import log_bytes, make_organisation, make_user, wait_for
from tests.results.stored_files import use_directory
from tests.web_server import web_server
from webapp.accounts.tokens.rules import issue_token

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]
GUIDE = project.BASE_DIR / "docs/how-to/submit-with-a-script.md"


def test_the_script_of_the_guide_submits_a_log_with_its_side_file(tmp_path, settings, stand_in):
    organisation = make_organisation()
    _, secret = issue_token(make_user("vera", organisation), organisation, "script")
    (script,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    (tmp_path / "load.log").write_bytes(log_bytes("slow-disk-ms"))
    (tmp_path / "load.jsonl").write_bytes(b'{"record": "start"}\n')
    use_directory(settings, tmp_path / "var" / "evidence")
    with web_server(tmp_path) as server:
        address = f"http://127.0.0.1:{server.port}"
        script = script.replace("https://register.example", address).replace("dc_...", secret)
        pipe = subprocess.PIPE
        with subprocess.Popen(
            [sys.executable, "-c", script], cwd=tmp_path, stdout=pipe, stderr=pipe, text=True, env=os.environ
        ) as process:
            wait_for(lambda: process.poll() is not None or DraftReading.objects.filter(draft__files__role="companion"))
            sweep()
            output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    submission = Submission.objects.get()
    assert submission.public_id in output
    assert (submission.model, submission.slice_length_s) == ("EX4", 3600)
    assert [each.filename for each in submission.companions.all()] == ["load.jsonl"]
