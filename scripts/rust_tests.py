"""Build the tests of drivetest, and run their programs: several at a time, and those that measure alone at the end.

`cargo test` runs one program after another, so the processors are idle while the tests of one program wait for loads.
docs/decisions/0012 compares this with cargo-nextest. Usage: `scripts/rust_tests.py [--quick]`. `--quick` leaves out the
programs that run loads for seconds. The times go to .test_times/rust.tsv.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

WORKSPACE = Path(__file__).parent.parent / "runners/drivetest"
TIMES = Path(".test_times/rust.tsv")
CARGO = os.environ.get("CARGO", "cargo")
# They compare measured times with what a drive did; another program on the processors would make reads late.
MEASURING = {"truth"}
# They wait for loads of seconds. Programs that compute give way to them.
LOADING = {"writing", "terminal", "watch", "engines", "io_path", *MEASURING}
PROGRAMS_AT_ONCE = 3
# Tests of loads mostly wait: with 4 threads for each processor, `writing` takes 40 s instead of 65 s.
THREADS_PER_CPU = 2
WAITING_THREADS_PER_CPU = 4
GIVE_WAY = 10  # nice
# A test prints such a line past the test harness, so that dots may precede it.
REPORTED = re.compile(r"(?:SKIPPED|RETRIED): .*")
PASSED = re.compile(r"^test result: .* (\d+) passed;", re.MULTILINE)


@dataclass(frozen=True)
class TestProgram:
    """One built test program, and the directory of its package, in which cargo runs it."""

    name: str
    executable: str
    package: Path

    @property
    def title(self) -> str:
        return f"{self.package.name}/{self.name}"


def main() -> int:
    """Run the programs; return 0 if all passed."""
    is_quick = "--quick" in sys.argv[1:]
    programs = [each for each in built_programs() if not (is_quick and each.name in LOADING)]
    environment = os.environ | cargo_environment()
    # The longest first: those that load a drive, then those that read logs.
    together = sorted(
        (each for each in programs if each.name not in MEASURING), key=lambda each: each.name not in LOADING
    )
    TIMES.parent.mkdir(exist_ok=True)
    TIMES.write_text("")
    with ThreadPoolExecutor(PROGRAMS_AT_ONCE) as pool:
        passed = [*pool.map(lambda program: run(program, environment), together)]
    passed += [run(program, environment) for program in programs if program.name in MEASURING]
    if not is_quick:
        passed.append(doc_tests_pass())
    return 0 if all(passed) else 1


def built_programs() -> list[TestProgram]:
    """Build the test programs of the workspace, and return them."""
    command = [CARGO, "test", "--locked", "--workspace", "--no-run", "--quiet", "--message-format", "json"]
    # Without MAKEFLAGS, because cargo would take what jobs make has left for its own.
    own = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}
    built = subprocess.run(command, cwd=WORKSPACE, env=own, stdout=subprocess.PIPE, text=True, check=False)
    messages = [json.loads(line) for line in built.stdout.splitlines() if line.startswith("{")]
    for message in messages:
        if built.returncode and message["reason"] == "compiler-message":
            print(message["message"]["rendered"], file=sys.stderr)
    if built.returncode:
        sys.exit(built.returncode)
    return [
        TestProgram(message["target"]["name"], message["executable"], Path(message["manifest_path"]).parent)
        for message in messages
        if message["reason"] == "compiler-artifact" and message["profile"]["test"] and message["executable"]
    ]


def cargo_environment() -> dict[str, str]:
    """Return the variables that cargo sets for tests, from its configuration."""
    config = tomllib.loads((WORKSPACE / ".cargo/config.toml").read_text())
    return {name: os.environ.get(name, value) for name, value in config["env"].items()}


def run(program: TestProgram, environment: dict[str, str]) -> bool:
    """Run a test program, report what it printed and its time, and return whether all its tests passed."""
    is_waiting = program.name in LOADING - MEASURING
    threads = (WAITING_THREADS_PER_CPU if is_waiting else THREADS_PER_CPU) * (os.cpu_count() or 1)
    own = environment | {"CARGO_MANIFEST_DIR": str(program.package), "RUST_TEST_THREADS": str(threads)}
    command = [program.executable, "--quiet"]
    if program.name not in LOADING:
        command = ["nice", f"-n{GIVE_WAY}", *command]
    begun = time.monotonic()
    with tempfile.TemporaryFile("w+") as output:
        started = subprocess.Popen(command, cwd=program.package, env=own, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        report(program, output.read(), started.returncode, time.monotonic() - begun, usage.ru_utime + usage.ru_stime)
    return started.returncode == 0


REPORTING = threading.Lock()


def report(program: TestProgram, output: str, exit_status: int, seconds: float, processor_s: float) -> None:
    """Print one line for a program that passed, with what it skipped or retried; all of its output if it failed."""
    passed = PASSED.search(output)
    tests = passed[1] if passed else "?"
    with REPORTING:
        print(f"{program.title}: {tests} passed in {seconds:.1f} s", flush=True)
        for line in output.splitlines() if exit_status else REPORTED.findall(output):
            print(f"  {line}", flush=True)
        if exit_status:
            print(f"FAILED {program.title}: exit status {exit_status}", flush=True)
        with TIMES.open("a") as times:
            times.write(f"{program.title}\t{tests}\t{seconds:.1f}\t{processor_s:.1f}\n")


def doc_tests_pass() -> bool:
    """Run the examples of the documentation, and return whether they pass."""
    command = [CARGO, "test", "--locked", "--workspace", "--quiet", "--doc"]
    ended = subprocess.run(command, cwd=WORKSPACE, stdout=subprocess.PIPE, text=True, check=False)
    if ended.returncode:
        print(ended.stdout, flush=True)
    return ended.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
