"""The evidence store in a bucket of S3-compatible object storage.

"Never replaced" is a conditional write: `If-None-Match: *` on PutObject and on CompleteMultipartUpload. Staged files
are objects of their pieces. Each piece but the last is large enough to be a part of a multipart upload, so that the
storage itself copies them when they become evidence, and the bytes do not pass the register again.
"""

import hashlib
import io
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from secrets import token_hex
from tempfile import SpooledTemporaryFile
from typing import IO, Any, BinaryIO
from urllib.parse import urlparse

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError

from results.evidence.base import (
    CHUNK_BYTES,
    LEFTOVER_AGE_S,
    NO_ROOM,
    ByteStream,
    EvidenceDamagedError,
    StagedBytesLostError,
    Stored,
    StoreFullError,
    StoreUnavailableError,
    UnsafeStoreError,
    copy_hashed,
    file_name,
)
from results.evidence.scratch import scratch_directory

PART_BYTES = 8 * 1024**2  # larger files are sent in parts of this size; one is in memory
SMALLEST_PART_BYTES = 5 * 1024**2  # of S3, for all parts but the last
READ_TRIES = 3  # of one place of an object, after a broken connection
OFFSET_DIGITS = 20  # names of pieces sort by their offsets
CONNECT_TIMEOUT_S, READ_TIMEOUT_S = 5, 30
EXISTS = frozenset({404, 409, 412})  # of a conditional write: it exists, or an earlier attempt of it got through
ANY = "*"  # as If-None-Match: write only if no object has the name


@dataclass(frozen=True)
class _Piece:
    """A piece of a staged file."""

    object_key: str
    offset: int
    size_bytes: int

    @property
    def end(self) -> int:
        return self.offset + self.size_bytes


@lru_cache(maxsize=4)
def object_storage(url: str, endpoint: str, region: str, access_key: str, secret_key: str) -> "ObjectStorage":
    """Return the store of s3://bucket/prefix. A process has one client, which its threads share."""
    client = boto3.client(
        "s3",
        endpoint_url=endpoint or None,
        region_name=region,
        aws_access_key_id=access_key or None,
        aws_secret_access_key=secret_key or None,
        config=Config(
            connect_timeout=CONNECT_TIMEOUT_S,
            read_timeout=READ_TIMEOUT_S,
            retries={"mode": "standard", "total_max_attempts": 2},
            # The signature covers the hash of each body: the storage refuses bytes that changed on the way. Newer
            # checksums are unknown to many storages.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
            s3={"payload_signing_enabled": True, "addressing_style": "path" if endpoint else "auto"},
        ),
    )
    parts = urlparse(url)
    return ObjectStorage(client, parts.netloc, parts.path.strip("/"))


class ObjectStorage:
    """A kind of EvidenceStore."""

    def __init__(self, client: Any, bucket: str, prefix: str) -> None:
        self.client, self.bucket = client, bucket
        self.prefix = f"{prefix}/" if prefix else ""

    def check(self) -> None:
        """Try whether the bucket refuses to replace an object, on an object of its own.

        Raises UnsafeStoreError if it does not, and StoreUnavailableError.
        """
        key = f"{self.prefix}probe/{token_hex(16)}"
        try:
            self._send("put_object", Key=key, Body=b"first", IfNoneMatch=ANY)
            attempts = {"PutObject": self._put, "CompleteMultipartUpload": self._copy_self}
            replaced = [name for name, write in attempts.items() if write(key)]
        finally:
            with suppress(StoreUnavailableError):
                self._send("delete_object", Key=key)
        if replaced:
            raise UnsafeStoreError(
                f"s3://{self.bucket}: expected that the object storage never replaces an object with If-None-Match: *, "
                f"but {' and '.join(replaced)} replaced one. Use an object storage with conditional writes, or "
                "EVIDENCE_STORE=directory."
            )

    def free_bytes(self) -> None:
        """Request a list of the bucket: object storage does not state its free space."""
        self._send("list_objects_v2", Prefix=f"{self.prefix}probe/", MaxKeys=1)

    def put(self, stream: ByteStream) -> Stored:
        """Copy the bytes into a temporary file for their hash, and send them to their address. Raises StoreError."""
        with SpooledTemporaryFile(max_size=PART_BYTES) as spool:
            try:
                stored = copy_hashed(stream, spool.write)
            except OSError as error:
                if error.errno in NO_ROOM:
                    raise StoreFullError(f"no room for a temporary file: {error.strerror}") from error
                raise
            spool.seek(0)
            self._create(stored, spool)
        return stored

    def open(self, stored: Stored) -> BinaryIO:
        """Open a stream over the object; it requests ranges after a seek."""
        key = self._evidence_key(stored.sha256)
        size_bytes = self._size_of(key)
        where, expected = f"s3://{self.bucket}/{key}", f"expected {stored.size_bytes} bytes"
        if size_bytes is None:
            raise EvidenceDamagedError(f"{where}: {expected}, got none; restore a backup")
        if size_bytes != stored.size_bytes:
            raise EvidenceDamagedError(f"{where}: {expected}, got {size_bytes}; restore a backup", size_bytes)
        return io.BufferedReader(_ObjectStream(self, key, size_bytes), CHUNK_BYTES)

    def addresses(self, prefix: str) -> Iterator[Stored]:
        """Yield the objects whose hashes begin with the prefix."""
        for found in self._list(self._evidence_key(prefix)):
            yield Stored(found["Key"].rpartition("/")[2], found["Size"])

    @contextmanager
    def local_file(self, stored: Stored, filename: str = "") -> Iterator[Path]:
        """Provide a copy in a temporary directory."""
        with scratch_directory() as directory:
            path = directory / (file_name(filename) if filename else stored.sha256)
            with self.open(stored) as source, path.open("xb") as target:
                shutil.copyfileobj(source, target, CHUNK_BYTES)
            yield path

    def append(self, key: str, offset: int, piece: bytes) -> None:
        """Store a piece as an object of its own, or together with the one before it if that is too small for a part.

        Bytes after the offset, of a crash, are replaced.
        """
        before = [each for each in self._pieces(key) if each.offset < offset]
        last = before[-1] if before else _Piece("", 0, 0)
        if last.end < offset:
            raise StagedBytesLostError(f"{key}: expected at least {offset} bytes, got {last.end}")
        if before and (last.end > offset or last.size_bytes < SMALLEST_PART_BYTES):
            piece, offset = self._read(last.object_key)[: offset - last.offset] + piece, last.offset
        self._send("put_object", Key=self._piece_key(key, offset), Body=piece)

    def seal(self, key: str, size_bytes: int) -> Stored:
        """Return the hash of the pieces."""
        if size_bytes == 0:
            self.append(key, 0, b"")
        digest = hashlib.sha256()
        for piece in self._complete_pieces(key, size_bytes):
            digest.update(self._read(piece.object_key))
        return Stored(digest.hexdigest(), size_bytes)

    def adopt(self, key: str, stored: Stored) -> None:
        """Let the storage copy the pieces to the address of the evidence."""
        pieces = self._complete_pieces(key, stored.size_bytes)
        if stored.size_bytes:
            sources = [{"CopySource": {"Bucket": self.bucket, "Key": piece.object_key}} for piece in pieces]
            self._send_parts(stored, "upload_part_copy", iter(sources))
        else:
            self._create(stored, io.BytesIO())

    @contextmanager
    def staged_file(self, key: str, filename: str = "") -> Iterator[Path]:
        """Provide a copy in a temporary directory."""
        pieces = self._pieces(key)
        if not pieces:
            raise StagedBytesLostError(f"{key}: expected the bytes of a draft, got none")
        with scratch_directory() as directory:
            path = directory / (file_name(filename) if filename else key)
            with path.open("xb") as target:
                for piece in pieces:
                    target.write(self._read(piece.object_key))
            yield path

    def remove(self, key: str) -> None:
        """Remove the pieces of a staged file."""
        for piece in self._pieces(key):
            self._send("delete_object", Key=piece.object_key)

    @contextmanager
    def temporary_directory(self, key: str) -> Iterator[Path]:
        """Provide a temporary directory of this machine."""
        with scratch_directory() as directory:
            yield directory

    def put_result(self, key: str, packed: bytes) -> None:
        """Store a result as an object."""
        self._send("put_object", Key=self._result_key(key), Body=packed)

    def result(self, key: str) -> bytes | None:
        """Return the content of a result; None without one."""
        try:
            return self._read(self._result_key(key))
        except StagedBytesLostError:
            return None

    def result_size_bytes(self, key: str) -> int | None:
        """Return the size of a result; None without one."""
        return self._size_of(self._result_key(key))

    def remove_result(self, key: str) -> None:
        """Remove a result, if there is one."""
        self._send("delete_object", Key=self._result_key(key))

    def leftovers(self) -> tuple[list[str], list[str]]:
        """Return the keys of files and of results whose newest object is older than a day."""
        files, results = f"{self.prefix}staging/files/", f"{self.prefix}staging/results/"
        newest: dict[str, datetime] = {}
        for found in self._list(files):
            key = found["Key"].removeprefix(files).partition("/")[0]
            newest[key] = max(found["LastModified"], newest.get(key, found["LastModified"]))
        old_results = [found["Key"] for found in self._list(results) if _is_old(found["LastModified"])]
        return (
            [key for key, changed_at in newest.items() if _is_old(changed_at)],
            [key.removeprefix(results).removesuffix(".zst") for key in old_results],
        )

    def remove_abandoned(self) -> int:
        """Abort the multipart uploads that began more than a day ago, and return their number."""
        with self._answers():
            pages = self.client.get_paginator("list_multipart_uploads").paginate(
                Bucket=self.bucket, Prefix=self._evidence_key("")
            )
            old = [upload for page in pages for upload in page.get("Uploads", []) if _is_old(upload["Initiated"])]
        for upload in old:
            self._send("abort_multipart_upload", Key=upload["Key"], UploadId=upload["UploadId"])
        return len(old)

    def stream(self, key: str, offset: int) -> Any:
        """Return the body of an object from an offset on."""
        return self._send("get_object", Key=key, Range=f"bytes={offset}-")["Body"]

    def _evidence_key(self, sha256: str) -> str:
        return f"{self.prefix}evidence/{sha256}"

    def _piece_key(self, key: str, offset: int) -> str:
        return f"{self.prefix}staging/files/{key}/{offset:0{OFFSET_DIGITS}}"

    def _result_key(self, key: str) -> str:
        return f"{self.prefix}staging/results/{key}.zst"

    def _pieces(self, key: str) -> list[_Piece]:
        return [
            _Piece(found["Key"], int(found["Key"].rpartition("/")[2]), found["Size"])
            for found in self._list(f"{self.prefix}staging/files/{key}/")
        ]

    def _complete_pieces(self, key: str, size_bytes: int) -> list[_Piece]:
        pieces = self._pieces(key)
        ends = [0, *(piece.end for piece in pieces)]
        if not pieces or ends[-1] != size_bytes or ends[:-1] != [piece.offset for piece in pieces]:
            raise StagedBytesLostError(f"{key}: expected {size_bytes} bytes, got {ends[-1]} in {len(pieces)} pieces")
        return pieces

    def _create(self, stored: Stored, file: IO[bytes]) -> None:
        """Send a file to its address, where nothing is replaced."""
        if stored.size_bytes > PART_BYTES:
            parts = iter(lambda: {"Body": file.read(PART_BYTES)}, {"Body": b""})
            self._send_parts(stored, "upload_part", parts)
        elif not self._write("put_object", Key=self._evidence_key(stored.sha256), Body=file.read()):
            self._refuse_other_size(stored)

    def _send_parts(self, stored: Stored, operation: str, parts: Iterator[dict[str, Any]]) -> None:
        """Make an object of parts. Without an end, it has no name, and is aborted now or after a day."""
        key = self._evidence_key(stored.sha256)
        upload = {"Key": key, "UploadId": self._send("create_multipart_upload", Key=key)["UploadId"]}
        is_ours = False
        try:
            sent = []
            for number, part in enumerate(parts, 1):
                answer = self._send(operation, **upload, PartNumber=number, **part)
                sent.append({"PartNumber": number, "ETag": answer.get("CopyPartResult", answer)["ETag"]})
            is_ours = self._write("complete_multipart_upload", **upload, MultipartUpload={"Parts": sent})
        finally:
            if not is_ours:
                with suppress(StoreUnavailableError):
                    self._send("abort_multipart_upload", **upload, missing_ok=True)
        self._refuse_other_size(stored)

    def _refuse_other_size(self, stored: Stored) -> None:
        key = self._evidence_key(stored.sha256)
        size_bytes = self._size_of(key)
        if size_bytes is None:
            raise StoreUnavailableError(f"s3://{self.bucket}/{key}: the object storage did not accept it; try again")
        if size_bytes != stored.size_bytes:
            raise EvidenceDamagedError(
                f"s3://{self.bucket}/{key}: expected {stored.size_bytes} bytes, got {size_bytes}; restore a backup",
                size_bytes,
            )

    def _put(self, key: str) -> bool:
        return self._write("put_object", Key=key, Body=b"second")

    def _copy_self(self, key: str) -> bool:
        """Try to replace an object by a multipart upload, whose part is a copy as in adopt()."""
        upload = {"Key": key, "UploadId": self._send("create_multipart_upload", Key=key)["UploadId"]}
        source = {"Bucket": self.bucket, "Key": key}
        answer = self._send("upload_part_copy", **upload, PartNumber=1, CopySource=source)
        parts = [{"PartNumber": 1, "ETag": answer["CopyPartResult"]["ETag"]}]
        is_replaced = self._write("complete_multipart_upload", **upload, MultipartUpload={"Parts": parts})
        if not is_replaced:
            self._send("abort_multipart_upload", **upload, missing_ok=True)
        return is_replaced

    def _write(self, operation: str, **arguments: Any) -> bool:
        """Write an object that does not exist yet. Return False if it may exist."""
        return self._send(operation, **arguments, IfNoneMatch=ANY, refusals=EXISTS) is not None

    def _size_of(self, key: str) -> int | None:
        found = self._send("head_object", Key=key, missing_ok=True)
        return None if found is None else int(found["ContentLength"])

    def _read(self, key: str) -> bytes:
        """Return a small object. Raises StagedBytesLostError without one."""
        with self._answers():
            found = self._send("get_object", Key=key, missing_ok=True)
            if found is None:
                raise StagedBytesLostError(f"s3://{self.bucket}/{key}: expected an object, got none")
            with found["Body"] as body:
                content: bytes = body.read()
        return content

    def _list(self, prefix: str) -> Iterator[dict[str, Any]]:
        with self._answers():
            for page in self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix):
                yield from page.get("Contents", [])

    def _send(
        self, operation: str, *, missing_ok: bool = False, refusals: frozenset[int] = frozenset(), **arguments: Any
    ) -> Any:
        """Return the answer to a request; None for the stated refusals. Raises StoreUnavailableError for all others."""
        refusals = refusals | {404} if missing_ok else refusals
        with self._answers():
            try:
                return getattr(self.client, operation)(Bucket=self.bucket, **arguments)
            except ClientError as error:
                is_bucket = error.response["Error"].get("Code") == "NoSuchBucket"
                if error.response["ResponseMetadata"]["HTTPStatusCode"] in refusals and not is_bucket:
                    return None
                raise

    @contextmanager
    def _answers(self) -> Iterator[None]:
        """Turn errors of the client into StoreFullError and StoreUnavailableError."""
        try:
            yield
        except ClientError as error:
            status, code = error.response["ResponseMetadata"]["HTTPStatusCode"], error.response["Error"].get("Code")
            if status == 507:
                raise StoreFullError(f"s3://{self.bucket}: the object storage has no room") from error
            refusal = f"s3://{self.bucket}: {error.operation_name} got status {status}, {code}"
            raise StoreUnavailableError(refusal) from error
        except (BotoCoreError, HTTPClientError) as error:
            reason = f"s3://{self.bucket}: the object storage does not answer ({type(error).__name__})"
            raise StoreUnavailableError(reason) from error


class _ObjectStream(io.RawIOBase):
    """The bytes of an object. A read after a seek, or after a broken connection, requests the rest of the object."""

    def __init__(self, storage: ObjectStorage, key: str, size_bytes: int) -> None:
        super().__init__()
        self._storage, self._key, self._size_bytes = storage, key, size_bytes
        self._offset = 0
        self._body: Any = None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._offset

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._offset, io.SEEK_END: self._size_bytes}[whence]
        target = max(0, start + offset)
        if target != self._offset:
            self._drop_body()
        self._offset = target
        return target

    def readinto(self, buffer: Any) -> int:
        if self._offset >= self._size_bytes or not len(buffer):
            return 0
        chunk = self._read_some(len(buffer))
        buffer[: len(chunk)] = chunk
        self._offset += len(chunk)
        return len(chunk)

    def readall(self) -> bytes:
        return b"".join(iter(lambda: self.read(CHUNK_BYTES) or b"", b""))

    def close(self) -> None:
        self._drop_body()
        super().close()

    def _read_some(self, size: int) -> bytes:
        for _ in range(READ_TRIES):
            body = self._body = self._body or self._storage.stream(self._key, self._offset)
            with suppress(BotoCoreError, HTTPClientError, OSError):
                chunk: bytes = body.read(size)
                if chunk:
                    return chunk
            self._drop_body()
        raise StoreUnavailableError(f"{self._key}: the object storage stopped at byte {self._offset}")

    def _drop_body(self) -> None:
        body, self._body = self._body, None
        if body is not None:
            body.close()


def _is_old(moment: datetime) -> bool:
    return moment < datetime.now(UTC) - timedelta(seconds=LEFTOVER_AGE_S)
