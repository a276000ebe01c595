"""The commands of the runbooks name programs, commands, options, services, files and settings that exist."""

import re
import shlex

import pytest
import yaml
from django.conf import settings
from django.core.management import CommandError, get_commands, load_command_class

from scripts.runbooks.commands import code_blocks

ROOT = settings.BASE_DIR
RUNBOOKS = (
    "deploy-with-compose", "deploy-with-systemd", "upgrade-the-register", "free-a-full-disk", "handle-a-lost-run",
    "run-on-several-machines",
)  # fmt: skip
SERVICES = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
DOCUMENTED = set(re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/reference/settings.md").read_text(), re.MULTILINE))
UNITS = {path.name for path in (ROOT / "operations/systemd").iterdir()}
UNITS_OF_DEBIAN = {"redis-server.service", "postgresql.service", "nginx.service", "apache2.service"}
PROGRAMS = {
    "apt-get", "cat", "cd", "certbot", "chmod", "chown", "cp", "curl", "df", "docker", "du", "echo", "export", "find",
    "for", "git", "install", "make", "manage.py", "openssl", "pgrep", "printf", "python3", "rm", "runuser", "mv",
    "systemctl", "touch", "useradd", "drivecert-manage", "/usr/share/postgresql-common/pgdg/apt.postgresql.org.sh",
    ".venv/bin/python", "operations/lock_images.sh", "operations/nginx/install_on_host.sh", '"$BIN"/pg_dump',
    "old=$(docker", "OLD=$(ls",
}  # fmt: skip
VARIABLES_OF_COMPOSE = {"FRONT_SUBNET", "HTTP_PORT", "HTTPS_PORT"}


def blocks(name):
    """Return the code blocks of a runbook without their indentation."""
    return code_blocks((ROOT / f"docs/how-to/{name}.md").read_text())


def commands(name):
    """Return the command lines of a runbook, without the files that they write."""
    text = "\n".join(blocks(name))
    return re.sub(r"(<<'END')\n.*?^END$", r"\1", text, flags=re.DOTALL | re.MULTILINE).splitlines()


def written_settings(name):
    """Return the names of all settings in the files that a runbook writes, and in its exports."""
    text = "\n".join(blocks(name))
    files = "\n".join(re.findall(r"<<'END'\n(.*?)^END$", text, flags=re.DOTALL | re.MULTILINE))
    return set(re.findall(r"^(\w+)=", files, re.MULTILINE)) | set(re.findall(r"(?:^export | )([A-Z_]{4,})=", text))


def managed(line):
    """Return the management command of a line with its arguments, if it has one."""
    words = shlex.split(line.partition(" > ")[0])
    for start in ("manage.py", "drivecert-manage"):
        if start in words and words.index(start) + 1 < len(words):
            return words[words.index(start) + 1 :]
    return None


@pytest.mark.parametrize("name", RUNBOOKS)
def test_every_command_is_of_a_known_program(name):
    assert [line for line in commands(name) if line.split()[0] not in PROGRAMS] == []


@pytest.mark.parametrize("name", RUNBOOKS)
def test_every_management_command_exists_with_its_options(name):
    known = get_commands()
    for command, *arguments in filter(None, map(managed, commands(name))):
        parser = load_command_class(known[command], command).create_parser("manage.py", command)
        parser.parse_args([argument for argument in arguments if argument])


@pytest.mark.parametrize("name", RUNBOOKS)
def test_every_service_of_compose_and_systemd_exists(name):
    for line in commands(name):
        words = shlex.split(line)
        if words[:2] == ["docker", "compose"] and {"up", "run", "exec", "ps"} & set(words):
            verb = next(word for word in words if word in {"up", "run", "exec", "ps"})
            named = [word for word in words[words.index(verb) + 1 :] if re.fullmatch(r"[a-z]+", word)]
            named = named[:1] if verb in {"run", "exec"} else named
            assert set(named) <= set(SERVICES), line
        for unit in re.findall(r"[\w@-]+\.(?:service|target)", line):
            template = re.sub(r"@\w+\.", "@.", unit)
            assert template in UNITS | UNITS_OF_DEBIAN, line


@pytest.mark.parametrize("name", RUNBOOKS)
def test_every_file_of_the_checkout_exists(name):
    for line in commands(name):
        for path in re.findall(r"(?<![\w/])(?:operations|scripts)/[\w./@-]+", line):
            assert (ROOT / path).exists(), line


@pytest.mark.parametrize("name", RUNBOOKS)
def test_every_setting_is_documented(name):
    known = DOCUMENTED | {f"{each}_FILE" for each in DOCUMENTED} | VARIABLES_OF_COMPOSE
    assert written_settings(name) - known == set()


def test_what_does_not_exist_is_found():
    assert managed("docker compose run web python manage.py add_user olga --staff") == ["add_user", "olga", "--staff"]
    parser = load_command_class("webapp.accounts", "add_user").create_parser("manage.py", "add_user")
    with pytest.raises(CommandError, match="unrecognized arguments: --stuff"):
        parser.parse_args(["olga", "--stuff"])
    assert len(commands("deploy-with-compose")) > 15
    assert len(commands("deploy-with-systemd")) > 30
    assert "ALLOWED_HOSTS" in written_settings("deploy-with-systemd")
