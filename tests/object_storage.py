"""SeaweedFS as the object storage of the tests: a real server on loopback, ended by its process id."""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from tests.register import free_ports

KEYS = ("tests", "a secret of the tests")
PROGRAM = Path(sys.executable).with_name("weed")
PATIENCE_S = 60
LOG_CHARS = 2000
IDENTITIES = {
    "identities": [
        {"name": "tests", "credentials": [{"accessKey": KEYS[0], "secretKey": KEYS[1]}], "actions": ["Admin"]}
    ]
}


class Seaweed:
    """A running server."""

    def __init__(self, port: int, command: Sequence[str | Path], log: BinaryIO) -> None:
        self.url, self.keys = f"http://127.0.0.1:{port}", KEYS
        self.command, self.log = ["setpriv", "--pdeathsig", "KILL", *command], log
        self.start()

    def start(self) -> None:
        """Start the server on the data that it has."""
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log)

    def kill(self) -> None:
        """End the server at once."""
        self.process.kill()
        self.process.wait()

    def client(self, attempts=1):
        return boto3.client(
            "s3",
            endpoint_url=self.url,
            region_name="us-east-1",
            aws_access_key_id=KEYS[0],
            aws_secret_access_key=KEYS[1],
            config=Config(
                retries={"total_max_attempts": attempts},
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
                s3={"addressing_style": "path"},
            ),
        )

    def create_bucket(self) -> str:
        name = f"test-{uuid4().hex}"
        self.client().create_bucket(Bucket=name)
        return name

    def wait(self) -> None:
        """Wait until the server answers and can store an object."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                self.client().put_object(Bucket=self.create_bucket(), Key="ready", Body=b"ready")
            except (BotoCoreError, ClientError):
                said = Path(self.log.name).read_text(errors="replace")[-LOG_CHARS:]
                assert time.monotonic() < deadline, f"{self.url} did not answer in {PATIENCE_S} s. Its log ends: {said}"
                time.sleep(0.2)
            else:
                return


@contextmanager
def running_seaweed():
    """Start the server, and end it with its data. It also ends with the process of the tests."""
    directory = Path(tempfile.mkdtemp(prefix="drivecert-seaweed-"))
    (directory / "s3.json").write_text(json.dumps(IDENTITIES))
    parts = ("master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc")
    parts += ("s3.port.grpc", "s3.port.iceberg", "s3.port.lance", "metricsPort")
    port, *others = free_ports(1 + len(parts))
    command = [
        PROGRAM, "server", f"-dir={directory}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3",
        f"-s3.port={port}", f"-s3.config={directory / 's3.json'}", "-s3.autoCreateBucket=false",
        "-master.volumeSizeLimitMB=64", "-volume.max=0",
        *(f"-{part}={other}" for part, other in zip(parts, others, strict=True)),
    ]  # fmt: skip
    with (directory / "log").open("wb") as log:
        server = Seaweed(port, command, log)
        try:
            server.wait()
            yield server
        finally:
            server.kill()
            shutil.rmtree(directory)
