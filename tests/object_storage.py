"""SeaweedFS as the object storage of the tests: a real server on loopback, ended by its process id."""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from tests.register import free_port

KEYS = ("tests", "a secret of the tests")
PROGRAM = Path(sys.executable).with_name("weed")
PATIENCE_S = 60
IDENTITIES = {
    "identities": [
        {"name": "tests", "credentials": [{"accessKey": KEYS[0], "secretKey": KEYS[1]}], "actions": ["Admin"]}
    ]
}


class Seaweed:
    """A running server."""

    def __init__(self, port: int) -> None:
        self.url, self.keys = f"http://127.0.0.1:{port}", KEYS

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
                assert time.monotonic() < deadline, f"{self.url} did not answer in {PATIENCE_S} s"
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
    port = free_port()
    command = [
        PROGRAM, "server", f"-dir={directory}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3",
        f"-s3.port={port}", f"-s3.config={directory / 's3.json'}", "-s3.autoCreateBucket=false",
        "-master.volumeSizeLimitMB=64", "-volume.max=0", *(f"-{part}={free_port()}" for part in parts),
    ]  # fmt: skip
    log = (directory / "log").open("wb")
    process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command], stdout=log, stderr=log)
    try:
        server = Seaweed(port)
        server.wait()
        yield server
    finally:
        process.kill()
        process.wait()
        log.close()
        shutil.rmtree(directory)
