"""What only object storage has: conditional writes, parts, requests that fail, and uploads that nobody ends."""

import hashlib
import io
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from results.evidence import object_storage as module
from results.evidence import staging
from results.evidence.base import EvidenceDamagedError, StoreUnavailableError, UnsafeStoreError
from results.evidence.object_storage import PART_BYTES
from results.evidence.scrub import advance, current_pass, open_faults
from results.evidence.store import configured_store, open_address, store
from results.ingest.queue import sweep
from results.models import Reading
from results.models.ids import new_file_key
from tests.register import free_port
from tests.results.builders import log_bytes, make_organisation, send, sha256

pytestmark = pytest.mark.xdist_group("object storage")
LARGE = hashlib.shake_128(b"a large file").digest(PART_BYTES + 1)


@pytest.fixture
def unavailable(settings, object_storage):
    """Return a function that ends the answers of the object storage, and one that brings them back."""
    answering = settings.S3_ENDPOINT

    def leave():
        settings.S3_ENDPOINT = f"http://127.0.0.1:{free_port()}"

    def return_():
        settings.S3_ENDPOINT = answering

    return leave, return_


@pytest.fixture
def hooked(object_storage):
    """Return a function that registers a hook of the client until the end of the test."""
    hooks = []

    def register(event, hook):
        object_storage.client.meta.events.register(event, hook)
        hooks.append((event, hook))

    yield register
    for event, hook in hooks:
        object_storage.client.meta.events.unregister(event, hook)


def evidence_objects(storage):
    found = storage.client.list_objects_v2(Bucket=storage.bucket, Prefix="register/evidence/")
    return [each["Key"].rpartition("/")[2] for each in found.get("Contents", [])]


def multipart_uploads(storage):
    return storage.client.list_multipart_uploads(Bucket=storage.bucket).get("Uploads", [])


def test_a_store_with_conditional_writes_is_accepted_and_the_probe_leaves_nothing(object_storage):
    object_storage.check()
    assert "Contents" not in object_storage.client.list_objects_v2(Bucket=object_storage.bucket)
    assert multipart_uploads(object_storage) == []


@pytest.mark.parametrize("operation", ["PutObject", "CompleteMultipartUpload"])
def test_a_store_that_ignores_the_condition_is_refused(object_storage, hooked, operation):
    hooked(f"before-sign.s3.{operation}", lambda request, **_: request.headers.__delitem__("If-None-Match"))
    with pytest.raises(UnsafeStoreError, match=f"but {operation} replaced one. Use an object storage"):
        object_storage.check()


def test_a_bucket_that_does_not_exist_is_named(object_storage, settings):
    settings.EVIDENCE_STORE = "s3://no-such-bucket/register"
    with pytest.raises(StoreUnavailableError, match="s3://no-such-bucket: PutObject got status 404, NoSuchBucket"):
        configured_store().check()


@pytest.mark.parametrize("content", [b"a log", LARGE], ids=["one request", "parts"])
def test_an_object_of_another_length_is_never_replaced(object_storage, content):
    key = f"register/evidence/{sha256(content)}"
    object_storage.client.put_object(Bucket=object_storage.bucket, Key=key, Body=b"damaged")
    with pytest.raises(EvidenceDamagedError, match="restore a backup"):
        store(io.BytesIO(content))
    found = object_storage.client.get_object(Bucket=object_storage.bucket, Key=key)["Body"].read()
    assert found == b"damaged"
    assert multipart_uploads(object_storage) == []


def test_an_upload_that_fails_in_the_middle_leaves_no_object(object_storage, hooked):
    def fail(**_):
        raise ConnectionResetError

    hooked("before-sign.s3.CompleteMultipartUpload", fail)
    with pytest.raises(ConnectionResetError):
        store(io.BytesIO(LARGE))
    assert (evidence_objects(object_storage), multipart_uploads(object_storage)) == ([], [])


def test_the_bytes_of_a_draft_become_evidence_without_passing_the_register(object_storage, hooked):
    key = new_file_key()
    staging.append(key, 0, LARGE[:PART_BYTES])
    staging.append(key, PART_BYTES, LARGE[PART_BYTES:])
    stored = staging.seal(key, len(LARGE))
    sent = []
    hooked("before-send.s3", lambda request, **_: sent.append((request.method, len(request.body or b""))))
    staging.adopt(staging.StagedBytes(key, stored))
    assert "PUT" in {method for method, _ in sent}
    assert sum(size for _, size in sent) < 1_000
    assert evidence_objects(object_storage) == [stored.sha256]


def test_an_abandoned_upload_is_aborted_after_a_day(object_storage, monkeypatch):
    object_storage.client.create_multipart_upload(Bucket=object_storage.bucket, Key="register/evidence/ab")
    object_storage.client.create_multipart_upload(Bucket=object_storage.bucket, Key="another/program")
    assert object_storage.remove_abandoned() == 0
    monkeypatch.setattr(module, "LEFTOVER_AGE_S", -60)
    assert object_storage.remove_abandoned() == 1
    assert [upload["Key"] for upload in multipart_uploads(object_storage)] == ["another/program"]


def test_staged_files_and_results_without_change_for_a_day_are_leftovers(object_storage, monkeypatch):
    staging.append("old", 0, b"0123")
    staging.store_result("result", b"a document")
    assert staging.leftovers() == ([], [])
    later = datetime.now(UTC) + timedelta(days=1, minutes=1)
    monkeypatch.setattr(module, "datetime", type("Later", (), {"now": staticmethod(lambda _: later)}))
    assert staging.leftovers() == (["old"], ["result"])


def test_a_broken_connection_is_continued_at_the_same_byte(object_storage, monkeypatch):
    stored = store(io.BytesIO(LARGE))
    requested, stream = [], object_storage.stream

    class Broken:
        def __init__(self, body):
            self.body, self.reads = body, 0

        def read(self, size):
            self.reads += 1
            if self.reads > 1:
                raise ConnectionResetError
            return self.body.read(size)

        def close(self):
            self.body.close()

    def broken_stream(key, offset):
        requested.append(offset)
        return Broken(stream(key, offset))

    monkeypatch.setattr(object_storage, "stream", broken_stream)
    with open_address(stored) as file:
        assert file.read() == LARGE
    assert len(requested) > 2


def test_a_store_that_stops_in_the_middle_is_unavailable(object_storage, monkeypatch):
    stored = store(io.BytesIO(b"a log"))
    monkeypatch.setattr(object_storage, "stream", lambda *_: io.BytesIO())
    with open_address(stored) as file, pytest.raises(StoreUnavailableError, match="stopped at byte 0"):
        file.read()


def test_nothing_is_lost_while_the_store_does_not_answer(object_storage, unavailable):
    leave, return_ = unavailable
    staging.append("key", 0, b"0123")
    leave()
    for action in (
        lambda: store(io.BytesIO(b"a log")),
        lambda: staging.append("key", 4, b"45"),
        lambda: staging.stored_result("result"),
        lambda: configured_store().check(),
    ):
        with pytest.raises(StoreUnavailableError, match="does not answer"):
            action()
    staging.remove("key")  # later: without a row, it becomes a leftover
    return_()
    staging.append("key", 4, b"45")
    assert staging.seal("key", 6).sha256 == sha256(b"012345")


@pytest.mark.django_db
def test_readings_wait_for_the_store_and_no_attempt_counts(object_storage, unavailable, stand_in):
    leave, return_ = unavailable
    submission = send(make_organisation(), log_bytes("slow-disk-ms"))
    leave()
    sweep()
    reading = submission.log.readings.get()
    assert (reading.state, reading.counted_attempts) == (Reading.State.PENDING, 0)
    assert reading.next_attempt_at is not None
    return_()
    Reading.objects.update(next_attempt_at=None)
    assert sweep() == 1
    assert submission.runs.count() == 1


@pytest.mark.django_db
def test_the_scrub_finds_damaged_objects_and_waits_for_the_store(object_storage, unavailable):
    contents = [b"missing", b"altered", b"shorter", b"as received"]
    for content in contents:
        send(make_organisation(f"of-{sha256(content)[:4]}"), content)
    key = "register/evidence/{}".format
    object_storage.client.delete_object(Bucket=object_storage.bucket, Key=key(sha256(contents[0])))
    for content, damaged in ((contents[1], b"ALTERED"), (contents[2], b"short")):
        object_storage.client.put_object(Bucket=object_storage.bucket, Key=key(sha256(content)), Body=damaged)
    leave, return_ = unavailable
    leave()
    with pytest.raises(StoreUnavailableError):
        advance(current_pass(), 10**9)
    assert list(open_faults()) == []
    return_()
    store(io.BytesIO(b"of no row"))
    scrub = current_pass()
    advance(scrub, 10**9)
    assert {fault.sha256: fault.kind for fault in open_faults()} == {
        sha256(content): content.decode() for content in contents[:3]
    }
    assert (scrub.files_count, scrub.unreferenced_count) == (4, 1)


@pytest.fixture
def below_a_path():
    """Run a server that answers like object storage below a path, and yield its address and the requests it got."""
    requests = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_PUT(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            requests.append(
                (self.command, self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            )
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/storage/v1/s3", requests
    server.shutdown()
    server.server_close()
    thread.join(10)


def test_an_object_storage_may_be_below_a_path(settings, below_a_path):
    settings.S3_ENDPOINT, requests = below_a_path
    settings.EVIDENCE_STORE, settings.S3_ACCESS_KEY_ID, settings.S3_SECRET_ACCESS_KEY = "s3://bucket/a", "key", "secret"
    configured_store().put_result("r", b"packed")
    ((method, path, headers, body),) = requests
    assert (method, path, body) == ("PUT", "/storage/v1/s3/bucket/a/staging/results/r.zst", b"packed")
    assert headers["x-amz-content-sha256"] == sha256(b"packed")
    # The signature covers the whole path: a server that gets another one refuses it.
    names = headers["authorization"].partition("SignedHeaders=")[2].partition(",")[0].split(";")
    address = f"{settings.S3_ENDPOINT.partition('/storage')[0]}{path}"
    signed = AWSRequest(method, address, {name: headers[name] for name in names}, body)
    signed.context["timestamp"] = headers["x-amz-date"]
    auth = S3SigV4Auth(Credentials("key", "secret"), "s3", "us-east-1")
    to_sign = auth.string_to_sign(signed, auth.canonical_request(signed))
    assert headers["authorization"].endswith(f"Signature={auth.signature(to_sign, signed)}")


def test_the_free_space_of_object_storage_is_not_stated_and_asking_for_it_finds_a_missing_bucket(
    settings, object_storage, unavailable
):
    assert object_storage.free_bytes() is None
    settings.EVIDENCE_STORE = "s3://no-such-bucket/register"
    with pytest.raises(StoreUnavailableError):
        configured_store().free_bytes()
    unavailable[0]()
    with pytest.raises(StoreUnavailableError):
        configured_store().free_bytes()
