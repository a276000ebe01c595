"""The upload server as the web server runs it: a client of others, concurrent pieces and a crash."""

import http.client
import io
import os
import signal
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from tusclient import client as tus
from tusclient.exceptions import TusCommunicationError

from results.models import DraftFile
from tests.results.builders import make_organisation, make_user, sha256, wait_for
from tests.results.stored_files import staged_path, use_directory
from tests.web_server import web_server
from webapp.accounts.tokens.rules import issue_token

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]


@pytest.fixture
def secret(db):
    organisation = make_organisation()
    return issue_token(make_user("vera", organisation), organisation, "script")[1]


@pytest.fixture
def server(tmp_path, settings):
    use_directory(settings, tmp_path / "var" / "evidence")
    with web_server(tmp_path) as server:
        yield server


def uploader_of(port, secret, content):
    """Return the uploader of the Python client of the tus project."""
    client = tus.TusClient(f"http://127.0.0.1:{port}/uploads/", headers={"Authorization": f"Bearer {secret}"})
    return client.uploader(file_stream=io.BytesIO(content), metadata={"filename": "load.log"})


def piece_request(port, secret, path, offset, piece):
    headers = {
        "Authorization": f"Bearer {secret}", "Tus-Resumable": "1.0.0", "Upload-Offset": str(offset),
        "Content-Type": "application/offset+octet-stream",
    }  # fmt: skip
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("PATCH", path, piece, headers)
    status = connection.getresponse().status
    connection.close()
    return status


def test_of_concurrent_requests_with_the_same_piece_one_writes_it(server, secret):
    pieces = [bytes([number]) * 100_000 for number in range(4)]
    path = uploader_of(server.port, secret, b"x" * 100_000).create_url().removeprefix(f"http://127.0.0.1:{server.port}")
    statuses = []
    threads = [
        threading.Thread(target=lambda piece=piece: statuses.append(piece_request(server.port, secret, path, 0, piece)))
        for piece in pieces
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [204, 409, 409, 409]
    assert staged_path(DraftFile.objects.get().key).read_bytes() in pieces


def test_after_a_crash_the_offset_has_no_byte_that_is_not_on_disk(tmp_path, settings, secret):
    use_directory(settings, tmp_path / "var" / "evidence")
    content = os.urandom(64_000_000)
    with web_server(tmp_path) as server:
        uploader = uploader_of(server.port, secret, content)
        uploader.set_url(uploader.create_url())
        sender = threading.Thread(target=lambda: _upload_until_broken(uploader), daemon=True)
        sender.start()
        wait_for(lambda: DraftFile.objects.get().received_bytes > 0)
        for pid in _children_and_self(server):
            os.kill(pid, signal.SIGKILL)
        sender.join(60)
    file = DraftFile.objects.get()
    assert 0 < file.received_bytes <= staged_path(file.key).stat().st_size
    assert staged_path(file.key).read_bytes()[: file.received_bytes] == content[: file.received_bytes]
    with web_server(tmp_path) as server:
        again = uploader_of(server.port, secret, content)
        again.set_url(f"http://127.0.0.1:{server.port}/uploads/{file.key}/")
        again.offset = again.get_offset()
        again.upload()
    assert DraftFile.objects.get().sha256 == sha256(content)


def _upload_until_broken(uploader):
    with suppress(TusCommunicationError, OSError, http.client.HTTPException):
        uploader.upload()


def _children_and_self(server):
    pid = server.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [*map(int, children.split()), pid]
