"""The real YCSB client, fetched once from Maven for all tests that run it, and its binding for RocksDB if it is built.

Maven has no binding for RocksDB: see CONTRIBUTING.md for what YCSB_ROCKSDB_JARS has to contain.
"""

import fcntl
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from django.conf import settings as django_settings

__all__ = ["NO_ROCKSDB", "client_argv", "jars", "needs_rocksdb", "rocksdb_jars"]

CLIENT = Path(__file__).parent / "ycsb_client"
JARS = Path(django_settings.BASE_DIR) / "var/ycsb-0.17.0"
MAVEN_LIMIT_S = 300
NO_ROCKSDB = "YCSB_ROCKSDB_JARS is not set: CONTRIBUTING.md says how to build YCSB's binding for RocksDB"
needs_rocksdb = pytest.mark.skipif("YCSB_ROCKSDB_JARS" not in os.environ, reason=NO_ROCKSDB)
# The download is retried, never a test: a registry may be unreachable for minutes.
PAUSES_S = (0, 5, 20, 60, 120, 240)
# Full coordinates, because Maven asks every repository to resolve the short prefix `dependency:`.
COPY_DEPENDENCIES = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"


def is_fetched():
    return all(list(JARS.glob(name)) for name in ("core-*.jar", "jaxb-api-*.jar"))


def download():
    """Download YCSB with Maven, and return Maven's output.

    With -U, Maven retries what it did not find before.
    """
    fetch = ["mvn", "-q", "-B", "-U", "-f", CLIENT / "pom.xml", COPY_DEPENDENCIES, f"-DoutputDirectory={JARS}"]
    return subprocess.run(fetch, capture_output=True, text=True, timeout=MAVEN_LIMIT_S, check=False).stdout


@pytest.fixture(scope="session")
def jars():
    """YCSB's core from Maven, cached from one session to the next."""
    if shutil.which("java") is None or not (is_fetched() or shutil.which("mvn")):
        pytest.skip("no java, or no mvn to fetch YCSB with; sweeps are not tested with the real client")
    JARS.parent.mkdir(exist_ok=True)
    with (JARS.parent / "ycsb.lock").open("w") as lock:  # two workers would fetch into one directory at the same time
        fcntl.flock(lock, fcntl.LOCK_EX)
        printed = ""
        for pause_s in PAUSES_S:
            if is_fetched():
                return JARS
            time.sleep(pause_s)
            printed = download()
    if not is_fetched():
        pytest.skip(f"YCSB cannot be fetched, sweeps are not tested with it: {printed[:600]}")
    return JARS


@pytest.fixture(scope="session")
def rocksdb_jars():
    """YCSB with its binding for RocksDB, from the folder that the environment names."""
    return Path(os.environ["YCSB_ROCKSDB_JARS"])


def client_argv(jars):
    """Return the command line of the client without its own arguments."""
    return [shutil.which("java"), "-Xmx128m", "-Duser.language=en", "-cp", f"{jars}/*", "site.ycsb.Client"]
