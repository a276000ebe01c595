"""The runbooks, command for command, on a clean machine: from Debian to a served register with TLS.

    python -m benchmarks.runbooks [--work DIRECTORY] [--keep]

It needs root, debootstrap, iptables and the package registries. The machine is a root directory with namespaces of its
own (scripts/runbooks/clean_machine.py); a stand-in for systemd runs its services. The result is in
benchmarks/results/runbooks.md.
"""

import argparse
import re
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).resolve().parent.parent
for folder in (ROOT, ROOT / "benchmarks"):
    sys.path.insert(0, str(folder))

from scripts.runbooks import container_machine  # noqa: E402
from scripts.runbooks.clean_machine import CleanMachine, Ended, Shell  # noqa: E402
from scripts.runbooks.commands import Command, read_commands  # noqa: E402
from scripts.runbooks.stand_in.units import Unit  # noqa: E402

Value = TypeVar("Value")
RESULT = ROOT / "benchmarks/results/runbooks.md"
SYSTEMD = ROOT / "docs/how-to/deploy-with-systemd.md"
COMPOSE = ROOT / "docs/how-to/deploy-with-compose.md"
NAME = "register.example.org"
DRIVETEST = ROOT / "runners/drivetest/target/release/drivetest"
LIMIT_S = 20 * 60
COMMAND_LIMIT_S = 900
RELEASE = "/opt/release.git"
PLACEHOLDERS = {"REPOSITORY": RELEASE}
# A command that this machine may be unable to run, what is run if it fails, and the reason.
FALLBACKS = {
    "apt-get install --yes --no-install-recommends postgresql-18": (
        "apt-get install --yes --no-install-recommends postgresql",
        "The package source of PostgreSQL cannot be reached here, so Debian's own PostgreSQL serves in its place.",
    ),
}
# What the output of a command that begins so must show.
PASSWORD_LINK = f"olga: set the password within 72 hours: https://{NAME}/accounts/password/reset/key/"
EXPECTED = {
    "drivecert-manage add_user": PASSWORD_LINK,
    "docker compose run --rm web python manage.py add_user": PASSWORD_LINK,
    "curl --fail": '"status": "ready"',
}
# Commands that cannot run here.
LEFT_OUT = {
    "docker compose --profile acme": "The authority for tests is not in the network of the containers. "
    "The same options of certbot run in step 11 of the runbook for systemd.",
}
PARTS = ("drivecert@web", "drivecert@live", "drivecert@worker", "drivecert@beat", "drivecert-lab")
PEBBLE_SERVICE = """[Service]
Environment=PEBBLE_VA_NOSLEEP=1
ExecStart=/usr/bin/pebble -config /opt/pebble/config.json
"""
PEBBLE_CONFIG = """{"pebble": {"listenAddress": "127.0.0.1:14000", "managementListenAddress": "127.0.0.1:15000",
 "certificate": "/opt/pebble/certificate.pem", "privateKey": "/opt/pebble/key.pem", "httpPort": 80, "tlsPort": 443}}
"""
START_PEBBLE = """
set -e
apt-get install --yes --no-install-recommends pebble >/dev/null
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
  -addext subjectAltName=DNS:localhost -keyout /opt/pebble/key.pem -out /opt/pebble/certificate.pem 2>/dev/null
cp /opt/pebble/certificate.pem /usr/local/share/ca-certificates/pebble.crt
update-ca-certificates >/dev/null
echo 'server = https://localhost:14000/dir' >> /etc/letsencrypt/cli.ini
systemctl start pebble.service
curl --silent --show-error --retry 20 --retry-connrefused --retry-delay 1 --output /dev/null https://localhost:14000/dir
"""
TRUST_PEBBLE = """
set -e
curl --fail --silent --show-error https://localhost:15000/roots/0 > /usr/local/share/ca-certificates/pebble-root.crt
update-ca-certificates >/dev/null
"""
TRUST_FIRST_CERTIFICATE = """
set -e
cp certificates/fullchain.pem /usr/local/share/ca-certificates/first.crt
update-ca-certificates >/dev/null
"""
SERVED = f"openssl s_client -connect {NAME}:443 -servername {NAME} </dev/null 2>/dev/null | openssl x509 -noout"


@dataclass
class Step:
    """The commands of a step that were run, and how long they took."""

    number: int
    title: str
    seconds: float = 0.0
    commands: int = 0
    problems: list[str] = field(default_factory=list)


@dataclass
class Outcome:
    """What a runbook needed: its steps, checks after it, and the commands that were not run as they are written."""

    steps: list[Step] = field(default_factory=list)
    checks: list[tuple[str, str, bool]] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """Return the time of all steps."""
        return sum(step.seconds for step in self.steps)

    @property
    def has_problems(self) -> bool:
        """Return whether a step failed."""
        return any(step.problems for step in self.steps)

    def step(self, command: Command) -> Step:
        """Return the step of a command."""
        if not self.steps or self.steps[-1].number != command.step:
            self.steps.append(Step(command.step, command.title))
        return self.steps[-1]


def follow(commands: list[Command], shell: Shell, before: dict[str, Callable[[Shell], None]]) -> Outcome:
    """Run the commands until one fails. `before` has what must exist before a command that begins so."""
    outcome = Outcome()
    for command in commands:
        if reason := _of(command, LEFT_OUT):
            outcome.differences.append(f"Step {command.step}: `{command.line}` was not run. {reason}")
            continue
        if prepare := _of(command, before):
            prepare(shell)
        step = outcome.step(command)
        ended = _run(command, shell, outcome)
        step.seconds += ended.seconds
        step.commands += 1
        print(f"{command.step:3} {ended.seconds:6.1f} s  [{ended.status}] {command.line[:120]}", flush=True)
        expected = _of(command, EXPECTED) or ""
        if ended.status or expected not in ended.output:
            wanted = f"0 and `{expected}`" if expected else "0"
            step.problems.append(f"`{command.line}`: expected {wanted}, got {ended.status} and {ended.output[-1500:]}")
            break
    return outcome


def _of(command: Command, by_beginning: dict[str, Value]) -> Value | None:
    return next((value for start, value in by_beginning.items() if command.text.startswith(start)), None)


def _run(command: Command, shell: Shell, outcome: Outcome) -> Ended:
    ended = shell.run(command.text, COMMAND_LIMIT_S)
    if ended.status == 0:
        return ended
    fallback = _of(command, FALLBACKS)
    if fallback is None:
        return ended
    instead, reason = fallback
    outcome.differences.append(f"Step {command.step}: `{command.line}` failed. {reason} Run instead: `{instead}`")
    again = shell.run(instead, COMMAND_LIMIT_S)
    return Ended(again.status, again.output, ended.seconds + again.seconds)


def prepare_machine(machine: CleanMachine) -> None:
    """Install the machine, and what the runbook asks its reader to have."""
    machine.install()
    release = ["git", "clone", "--quiet", "--bare", "--depth=1", f"file://{ROOT}", str(machine.root / RELEASE[1:])]
    cloned = subprocess.run(release, check=False, capture_output=True, text=True)
    if cloned.returncode:
        raise SystemExit(f"the release cannot be cloned: {cloned.stderr}")
    for place in ("root", "opt/images"):
        (machine.root / place).mkdir(exist_ok=True)
        shutil.copy(DRIVETEST, machine.root / place / "drivetest")
    machine.write("etc/systemd/system/pebble.service", PEBBLE_SERVICE)
    machine.write("opt/pebble/config.json", PEBBLE_CONFIG)


def _must(text: str) -> Callable[[Shell], None]:
    def run(shell: Shell) -> None:
        ended = shell.run(f"( {text} )", COMMAND_LIMIT_S)
        if ended.status:
            raise SystemExit(f"a preparation of the measurement failed: {ended.output[-2000:]}")

    return run


def deploy_with_systemd(machine: CleanMachine) -> Outcome:
    """Follow the runbook on a machine that has booted, and check what it promises."""
    commands = read_commands(SYSTEMD, PLACEHOLDERS)
    with machine.shell() as shell:
        before = {"certbot certonly": _must(START_PEBBLE), "curl --fail": _must(TRUST_PEBBLE)}
        outcome = follow(commands, shell, before)
        if outcome.has_problems:
            return outcome
        outcome.checks += _promised(shell)
    machine.power_off()
    begun = time.monotonic()
    machine.boot()
    with machine.shell() as shell:
        outcome.checks.append(_ready_after_a_start(shell, begun))
    outcome.differences += _stand_ins(machine)
    return outcome


def deploy_with_compose(machine: CleanMachine) -> Outcome:
    """Follow the runbook on a machine that has the stand-in for Docker."""
    with machine.shell() as shell:
        _must(container_machine.INSTALL)(shell)
        commands = read_commands(COMPOSE, PLACEHOLDERS)
        outcome = follow(commands, shell, {"curl --fail": _must(TRUST_FIRST_CERTIFICATE)})
        if not outcome.has_problems:
            states = shell.run("podman ps --format '{{.Names}} {{.Status}}'", 60).output
            running = re.findall(r"^drivecert_(\w+)_1 Up", states, re.MULTILINE)
            outcome.checks.append(("containers of step 6", f"running: {', '.join(sorted(running))}", len(running) == 8))
        else:
            logs = "for id in $(podman ps --all --quiet); do echo == $id; podman logs --tail 8 $id; done"
            print(shell.run(logs, 60).output)
    outcome.differences += [*container_machine.DIFFERENCES, _machine_of(machine)]
    outcome.differences.append("Step 9: curl trusts the certificate of step 4, as step 7 got none of an authority.")
    return outcome


def _machine_of(machine: CleanMachine) -> str:
    return (
        "Machine: a directory made by debootstrap with namespaces of its own, on this machine's kernel. "
        f"`{machine.name}` leads to its loopback. `REPOSITORY` is a clone of this commit."
    )


def _promised(shell: Shell) -> Iterator[tuple[str, str, bool]]:
    listed = shell.run("systemctl list-units 'drivecert*'", 60).output
    running = [part for part in PARTS if re.search(rf"^{part}\.service .* running$", listed, re.MULTILINE)]
    yield "services of step 9", f"running: {', '.join(running)}", len(running) == len(PARTS)
    issuer = shell.run(f"{SERVED} -issuer -serial", 60).output
    yield "certificate that TLS serves", issuer.replace("\n", ", "), "Pebble" in issuer
    renewed = shell.run("certbot renew --force-renewal --quiet --no-random-sleep-on-renew", 300)
    shell.run("sleep 1", 10)
    later = shell.run(f"{SERVED} -issuer -serial", 60).output
    is_new = renewed.status == 0 and later != issuer and "Pebble" in later
    yield "certificate after `certbot renew --force-renewal`", later.replace("\n", ", "), is_new


def _ready_after_a_start(shell: Shell, begun: float) -> tuple[str, str, bool]:
    ended = shell.run(
        f"curl --fail --silent --show-error --retry 60 --retry-all-errors --retry-delay 1 https://{NAME}/readyz", 120
    )
    found = f"ready {time.monotonic() - begun:.0f} s after the start" if ended.status == 0 else ended.output[-500:]
    return "restart of the machine, all processes killed", found, ended.status == 0


def _stand_ins(machine: CleanMachine) -> Iterator[str]:
    yield _machine_of(machine)
    yield "`systemctl` of steps 7, 9 and 10 and of certbot's hook: `scripts/runbooks/stand_in`, which starts the units."
    names = [f"{part}.service" for part in (*PARTS, "drivecert-prepare", "drivecert-nginx")]
    directives = sorted(set().union(*(Unit(name, machine.root).unapplied() for name in names)))
    yield f"Directives that the stand-in does not apply: {', '.join(directives)}."
    yield "Step 11: pebble, a test authority, in the place of Let's Encrypt, by a line in `/etc/letsencrypt/cli.ini`."


# Each runbook with its machine, and the function that follows it there.
RUNBOOKS: dict[str, tuple[type[CleanMachine], Callable[[CleanMachine], Outcome]]] = {
    "systemd": (CleanMachine, deploy_with_systemd),
    "compose": (container_machine.ContainerMachine, deploy_with_compose),
}


def measure(machine: CleanMachine, deploy: Callable[[CleanMachine], Outcome]) -> Outcome:
    """Install the machine, and follow the runbook on it."""
    shutil.rmtree(machine.directory, ignore_errors=True)
    try:
        prepare_machine(machine)
        machine.boot()
        outcome = deploy(machine)
        if outcome.has_problems:
            print(machine.logs())
    finally:
        machine.power_off()
    return outcome


def rows_of(name: str, outcome: Outcome, row: Any) -> Iterator[Any]:
    """Yield a row for each step of a runbook, for all of them, and for each check."""
    for step in outcome.steps:
        found = " ".join("; ".join(step.problems).split()) or f"{step.seconds:.1f} s, {step.commands} commands"
        yield row(f"{name}, step {step.number}: {step.title}", "exit status 0", found, not step.problems)
    is_complete = bool(outcome.checks) and not outcome.has_problems
    found = f"{outcome.seconds / 60:.1f} minutes"
    yield row(f"{name}, all steps", "<= 20 minutes", found, is_complete and outcome.seconds <= LIMIT_S)
    for check, found, is_met in outcome.checks:
        yield row(f"{name}, {check}", "as the runbook says", found, is_met)


def _item(text: str) -> str:
    """Return an item of a list, in lines as documents have them."""
    return textwrap.fill(text, 118, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    text = f"only these, and nothing is written: {', '.join(RUNBOOKS)}"
    parser.add_argument("runbooks", nargs="*", choices=[*RUNBOOKS, []], metavar="RUNBOOK", help=text)
    parser.add_argument("--work", type=Path, default=ROOT / "build/runbooks", help="where the root directories are")
    parser.add_argument("--keep", action="store_true", help="keep the root directories of the machines")
    options = parser.parse_args()
    import accounts  # noqa: PLC0415 - it sets Django up, and needs Playwright, which a test of this file does not
    from account_measures.site import Row  # noqa: PLC0415

    stated = accounts.conditions()
    rows: list[Any] = []
    differences: list[str] = []
    for name in options.runbooks or RUNBOOKS:
        kind, deploy = RUNBOOKS[name]
        machine = kind(options.work / name, NAME)
        try:
            outcome = measure(machine, deploy)
        finally:
            if not options.keep:
                shutil.rmtree(machine.directory, ignore_errors=True)
        rows += rows_of(name, outcome, Row)
        differences += [_item(f"{name}: {each}") for each in outcome.differences]
    for row in rows:
        print(f"{row.measure}: {row.found} ({'met' if row.is_met else 'NOT MET'})")
    if not options.runbooks:
        accounts.write(rows, stated, RESULT)
        with RESULT.open("a") as page:
            page.write("\n## What differs from the machine of an operator\n\n")
            page.writelines(differences)
    sys.exit(not all(row.is_met for row in rows))


if __name__ == "__main__":
    main()
