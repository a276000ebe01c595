"""A temporary directory of each test alone."""

import io
import tempfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.results.fixtures import no_broker, stand_in

__all__ = ["no_broker", "stand_in"]


@pytest.fixture(autouse=True)
def temporary(monkeypatch, tmp_path):
    directory = tmp_path / "temporary"
    directory.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    return directory


@pytest.fixture
def send(client):
    """Send a log, and files and fields with it; return the response."""

    def post(content=b"log", companions=(), headers=None, peer="127.0.0.1", **fields):
        files = {"log": SimpleUploadedFile("secret-name.log", content)} if content is not None else {}
        if companions:
            files["companions"] = [SimpleUploadedFile(name, text) for name, text in companions]
        form = {"slice_length_s": "10"} | fields | files
        return client.post("/try/", form, headers=headers or {}, REMOTE_ADDR=peer)

    return post


@pytest.fixture
def send_raw(client):
    """Send bytes as the body of a form whose announced length may be another one."""

    def post(body, length=None, kind="multipart/form-data; boundary=b", **environ):
        announced = len(body) if length is None else length
        extra = {"wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(announced), "CONTENT_TYPE": kind} | environ
        return client.generic("POST", "/try/", **extra)

    return post
