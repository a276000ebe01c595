"""Hostile uploads as drafts: each is refused or read, none is rendered or executed, and the web process stays small."""

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
from pathlib import Path

import pytest
import zstandard

from results.ingest.queue import sweep
from results.models import DraftReading
from tests.results.builders import log_bytes
from tests.webapp.submissions.drafts.uploads import upload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("evidence_dir", "real_reader")]

BOMB_BYTES = int(os.environ.get("HOSTILE_MEASURE_BYTES", "200_000_000"))
ALLOWED_GROWTH_BYTES = 100_000_000
SCRIPT = "<script>alert(1)</script>"


def bomb(pack):
    return pack(b"\n" * BOMB_BYTES)


def zip_of(name, content):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return file.getvalue()


def tar_of(name, content):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return file.getvalue()


LOG = log_bytes("slow-disk-ms")
HOSTILE = {
    "gzip bomb": lambda: bomb(gzip.compress),
    "zstd bomb": lambda: bomb(zstandard.compress),
    "xz bomb": lambda: bomb(lambda text: lzma.compress(text, preset=0)),
    "bzip2 bomb": lambda: bomb(bz2.compress),
    "zip bomb": lambda: bomb(lambda text: zip_of("load.log", text)),
    "truncated gzip": lambda: gzip.compress(LOG)[:-100],
    "truncated log": lambda: LOG[: len(LOG) // 2],
    "NUL bytes": lambda: LOG.replace(b"\n", b"\0\n", 50),
    "UTF-16": lambda: LOG.decode().encode("utf-16"),
    "a million columns": lambda: LOG + b"x," * 1_000_000 + b"\n",
    "path in zip": lambda: zip_of("../../../../tmp/drivecert-escaped.log", LOG),
    "path in tar": lambda: tar_of("/tmp/drivecert-escaped.log", LOG),
    "markup in a name": lambda: tar_of(f"{SCRIPT}.log", LOG),
    "polyglot": lambda: f"<html>{SCRIPT}</html>".encode() + zip_of("load.log", LOG),
    "markup": f"<html>{SCRIPT}</html>".encode,
}


def memory_bytes():
    """Return the memory of this process, which receives the upload and shows the result as a web process does."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_is_read_or_explained(kind, as_user, vera):
    content, client = HOSTILE[kind](), as_user(vera)
    draft = upload(client, content, f"{SCRIPT}.log")
    sweep()
    reading = DraftReading.objects.get()
    assert reading.state in {"done", "failed"} or "limits" in reading.error
    before = memory_bytes()
    answer = client.get(f"/submit/{draft}/")
    assert memory_bytes() - before < ALLOWED_GROWTH_BYTES
    assert answer.status_code == 200
    assert SCRIPT not in answer.text
    assert not Path("/tmp/drivecert-escaped.log").exists()
