"""docker-compose.yml: valid by the specification, every service hardened, every setting passed on."""

import json
import os
import re
import subprocess
from hashlib import sha256

import jsonschema
import pytest
import yaml
from django.conf import settings

from webapp.deployment.servers import PARTS

ROOT = settings.BASE_DIR
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]
OURS = ("prepare", *PARTS)
NAMES = sorted(SERVICES)
DOCUMENTED = set(re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/reference/settings.md").read_text(), re.MULTILINE))
IN_THE_IMAGE = {"DRIVECERT_DATA", "DRIVETEST"}
NEVER_IN_PRODUCTION = {"DEBUG"}
OF_THE_EMBEDDED_SERVERS = {"WAL_ARCHIVE"}
LOCKED = dict(re.findall(r"^(\w+)=(.+)$", (ROOT / "operations/images.lock").read_text(), re.MULTILINE))
SECRET_FILE = "/run/secrets/"


def test_the_file_is_valid_by_the_specification():
    schema = json.loads((ROOT / "tests/vendor/compose-spec/compose-spec.json").read_text())
    jsonschema.Draft7Validator(schema).validate(COMPOSE)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(schema).validate(COMPOSE | {"services": {"web": {"comand": "x"}}})


@pytest.mark.parametrize("name", NAMES)
def test_every_service_is_hardened(name):
    service = SERVICES[name]
    user, group = service["user"].split(":")
    assert int(user) > 0
    assert int(group) > 0
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert "privileged" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]


@pytest.mark.parametrize("name", NAMES)
def test_every_service_has_limits_and_its_log_rotates(name):
    service = SERVICES[name]
    assert set(service["deploy"]["resources"]["limits"]) == {"cpus", "memory", "pids"}
    assert service["logging"]["options"] == {"max-size": "10m", "max-file": "5"}
    assert all("size=" in mount for mount in service["tmpfs"])


@pytest.mark.parametrize("name", NAMES)
def test_every_service_that_stays_has_a_health_check(name):
    service = SERVICES[name]
    ends_by_itself = service["restart"] == "no"
    assert service["healthcheck"].get("disable", False) is ends_by_itself
    if name in {"worker", "lab", "beat"}:
        assert service["healthcheck"]["test"] == ["CMD", "python", "manage.py", "alive", name]


@pytest.mark.parametrize("name", PARTS)
def test_the_processes_run_the_commands_of_the_supervisor(name):
    assert SERVICES[name]["command"] == ["python", "manage.py", "serve", name]
    assert SERVICES[name]["environment"]["PORT"] == ("8001" if name == "live" else "8000")


@pytest.mark.parametrize("name", OURS)
def test_every_documented_setting_is_passed_on(name):
    """A key without a value takes the value of the shell or of .env."""
    stated = SERVICES[name]["environment"]
    passed = {key.removesuffix("_FILE") if str(value).startswith(SECRET_FILE) else key for key, value in stated.items()}
    assert passed == DOCUMENTED - IN_THE_IMAGE - NEVER_IN_PRODUCTION - OF_THE_EMBEDDED_SERVERS
    assert stated["PRODUCTION"] == stated["BEHIND_TLS_PROXY"] == "yes"


@pytest.mark.parametrize("name", NAMES)
def test_secrets_are_files_and_nothing_else(name):
    service = SERVICES[name]
    stated = service.get("environment", {})
    files = {value.removeprefix(SECRET_FILE) for value in stated.values() if str(value).startswith(SECRET_FILE)}
    assert files <= set(service.get("secrets", [])) <= set(COMPOSE["secrets"])
    secret = [key for key in stated if re.search("PASSWORD|SECRET_KEY|ENCRYPTION|PROVIDER_KEY", key)]
    assert [key for key in secret if not key.endswith("_FILE")] == []
    assert "${" not in str(stated.get("DATABASE_URL"))
    assert "@" not in str(stated.get("REDIS_URL"))


def test_only_nginx_is_reachable_and_the_servers_reach_nothing():
    assert [name for name in NAMES if "ports" in SERVICES[name]] == ["nginx"]
    assert COMPOSE["networks"]["back"]["internal"] is True
    assert SERVICES["postgres"]["networks"] == SERVICES["redis"]["networks"] == ["back"]
    assert SERVICES["nginx"]["networks"] == ["front"]


def test_uploads_are_spooled_on_a_volume():
    image = (ROOT / "Dockerfile").read_text()
    spool = re.search(r"TMPDIR=(\S+)", image)[1]
    assert f"spool:{spool}" in SERVICES["web"]["volumes"]
    assert not any(mount.startswith(spool) for mount in SERVICES["web"]["tmpfs"])


def test_every_mounted_file_exists_in_the_checkout():
    mounted = [volume.split(":")[0] for name in NAMES for volume in SERVICES[name].get("volumes", [])]
    made_by_the_operator = {"./certificates", "./nginx-spool"}
    files = {path for path in mounted if path.startswith("./")} - made_by_the_operator
    assert [path for path in sorted(files) if not (ROOT / path).is_file()] == []


def test_images_are_those_of_the_lock():
    text = (ROOT / "docker-compose.yml").read_text()
    defaults = dict(re.findall(r"\$\{(\w+_IMAGE):-([^}]+)\}", text))
    del defaults["REGISTER_IMAGE"]  # built here
    assert defaults == {name: image.partition("@")[0] for name, image in LOCKED.items()}
    for name, image in re.findall(r"^ARG (\w+_IMAGE)=(\S+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE):
        assert image == defaults[name]


def test_the_lock_is_filled_in_by_skopeo(tmp_path):
    """A program in the place of skopeo answers as it does."""
    lock = tmp_path / "images.lock"
    lock.write_text(f"# kept\nA_IMAGE=host/a:1\nB_IMAGE=host/b:2@sha256:{'0' * 64}\n")
    skopeo = tmp_path / "skopeo"
    skopeo.write_text('#!/bin/sh\n[ "$4" = docker://host/a:1 ] && d=1 || d=2\necho sha256:$d\n')
    skopeo.chmod(0o755)
    script = [ROOT / "operations/lock_images.sh", lock]
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run(script, env=environment, check=True, timeout=30)
    assert lock.read_text() == "# kept\nA_IMAGE=host/a:1@sha256:1\nB_IMAGE=host/b:2@sha256:2\n"
    skopeo.write_text("#!/bin/sh\nexit 1\n")
    before = lock.read_text()
    refused = subprocess.run(script, env=environment, check=False, timeout=30, capture_output=True, text=True)
    assert (refused.returncode, lock.read_text()) == (1, before)
    assert "host/a:1: the registry states no digest" in refused.stderr


def test_nginx_gets_its_limits_and_the_name_server_of_its_container(tmp_path):
    """The command of the service runs, with a program in the place of nginx that ends at once."""
    (tmp_path / "resolv.conf").write_text("search x\nnameserver 10.89.0.1\nnameserver 1.1.1.1\n")
    script = (ROOT / "operations/nginx/start_in_container.sh").read_text()
    for there, here in (("/tmp/", tmp_path), ("/etc/nginx/register/", ROOT / "operations/nginx"), ("/etc/", tmp_path)):
        script = script.replace(there, f"{here}/")
    for name, text in (("nginx", f'echo "$@" >{tmp_path}/seen'), ("sleep", "exit 1")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "UPLOAD_MAX_BYTES": "1048576"}
    subprocess.run(["sh", "-c", script], env=environment, check=True, timeout=30)
    assert (tmp_path / "resolver.conf").read_text() == "resolver 10.89.0.1 valid=5s;\n"
    assert (tmp_path / "limits.conf").read_text() == "client_max_body_size 53m;\n"
    assert (tmp_path / "seen").read_text() == "-g daemon off;\n"
    assert "include /tmp/resolver.conf;" in (ROOT / "operations/nginx/servers.compose.conf").read_text()
    mounted = {volume.split(":")[1] for volume in SERVICES["nginx"]["volumes"]}
    assert {SERVICES["nginx"]["command"][-1], "/etc/nginx/register/write_limits.sh"} <= mounted


def test_redis_gets_the_hash_of_any_password(tmp_path):
    """The command of the service runs, with a program in the place of the server."""
    password = "a b@/#'\"$%`\\"
    (tmp_path / "secret").write_text(password + "\n")
    (tmp_path / "redis-server").write_text(f'#!/bin/sh\ncp "$1" {tmp_path}/seen\n')
    (tmp_path / "redis-server").chmod(0o755)
    shell, option, script = SERVICES["redis"]["command"]
    for ours, here in (("/run/secrets/redis_password", "secret"), ("/tmp/redis.conf", "redis.conf")):
        script = script.replace(ours, str(tmp_path / here))
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run([shell, option, script.replace("$$", "$")], env=environment, check=True, timeout=30)
    written = (tmp_path / "seen").read_text().splitlines()
    assert written[0] == 'save ""'
    assert written[-1] == f"user default reset on #{sha256(password.encode()).hexdigest()} ~* &* +@all"
