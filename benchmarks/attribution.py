"""What drivetest reports of an overloaded drive, an overloaded host, both, or neither, and what a campaign concludes.

`known_truth.py --parts attribution` runs these cases on the drive with known delays. The drive overloads the host
itself with burners: one thread on each processor, with real-time priority 30, busy for 4.4 of each 5 ms. Its own
threads have priority 50 and interrupt them. It counts the replies that it sent 1 ms or more after they were due.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from load_programs import RECORD_BYTES, ROOT, Used, timed

sys.path.insert(0, str(ROOT))

from runners.campaigns.terms import Outcome, Purpose, Result, Terms
from runners.campaigns.voting import judged

if TYPE_CHECKING:
    from known_truth import Drive

SECONDS = 2

RATE, LATE, BUSY = "rate-below-asked", "generator-late", "host-busy"
HOST_CLAUSE = "; the host may be the cause: "

# The drive served a run at its set times if it sent at most this share of its replies late.
LATE_REPLIES_PCT = 1.0

FULL_VOTE, ONE_VOTE, NO_FAILURE = "full vote", "one vote", "no failure"
VOTES = {False: FULL_VOTE, None: ONE_VOTE, True: NO_FAILURE}


@dataclass(frozen=True)
class Case:
    """What is overloaded."""

    name: str
    is_drive_overloaded: bool
    is_host_overloaded: bool

    @property
    def commands(self) -> tuple[str, ...]:
        """Return the commands for the drive: at most 4,000 reads/s, or each read after 0.7 ms."""
        served = "servers 4 1ms" if self.is_drive_overloaded else "hold read 700us"
        return ("clear", f"only read {RECORD_BYTES}", served, "forget")

    @property
    def reads_per_s(self) -> int:
        return 6_000 if self.is_drive_overloaded else 500

    @property
    def vote(self) -> str:
        if self.is_host_overloaded:
            return ONE_VOTE
        return FULL_VOTE if self.is_drive_overloaded else NO_FAILURE


CASES = (
    Case("drive overloaded, host idle", is_drive_overloaded=True, is_host_overloaded=False),
    Case("host overloaded, drive with spare capacity", is_drive_overloaded=False, is_host_overloaded=True),
    Case("both overloaded", is_drive_overloaded=True, is_host_overloaded=True),
    Case("neither overloaded", is_drive_overloaded=False, is_host_overloaded=False),
)


@dataclass(frozen=True)
class Reported:
    """What drivetest reports of one run, and the share of replies that the drive sent late."""

    findings: frozenset[str]
    host_causes: tuple[str, ...]
    outcome: str
    headline: str
    late_replies_pct: float

    @property
    def blames_host(self) -> bool:
        return HOST_CLAUSE in self.headline

    @property
    def vote(self) -> str:
        """Return the vote of this run on its load in a campaign."""
        failed = Result.FAILED if self.outcome == "fail" else Result.PASSED
        result = Result.OVERLOADED if RATE in self.findings else failed
        outcome = Outcome("run", Purpose.SCREENING, Decimal(1), result, host_causes=self.host_causes)
        (decision,) = judged([outcome], Purpose.SCREENING, Terms()).values()
        return VOTES[decision]


def differences(case: Case, reported: Reported) -> list[str]:
    """Return how a run differs from what is expected of its case."""
    found, is_host = reported.findings, case.is_host_overloaded
    is_idle = not (case.is_drive_overloaded or is_host)
    differs = {
        f"the drive sent {reported.late_replies_pct:.1f} % of its replies late": (
            reported.late_replies_pct > LATE_REPLIES_PCT
        ),
        f"no {RATE}": case.is_drive_overloaded and RATE not in found,
        f"unexpected {RATE}": is_idle and RATE in found,
        f"neither {LATE} nor {BUSY}": is_host and not found & {LATE, BUSY},
        f"unexpected {LATE}": not is_host and LATE in found,
        f"host_causes: {', '.join(reported.host_causes) or 'none'}": bool(reported.host_causes) != is_host,
        f"headline: {reported.headline}": reported.blames_host != is_host,
        f"{reported.vote} instead of {case.vote}": reported.vote != case.vote,
    }
    return [difference for difference, is_so in differs.items() if is_so]


def reported(document: dict[str, Any], late_replies_pct: float) -> Reported:
    """Return what the document of `drivetest read --json` says about its run."""
    (run,) = document["runs"]
    return Reported(
        findings=frozenset(finding["id"] for finding in run["findings"]),
        host_causes=tuple(run["side_file"]["host_causes"]),
        outcome=run["verdict"]["outcome"],
        headline=run["verdict"]["headline"],
        late_replies_pct=late_replies_pct,
    )


COLUMNS = (
    *("place", "engine", "case", "expected vote", "as expected", RATE, LATE, BUSY, "host in headline"),
    *(FULL_VOTE, ONE_VOTE, "late replies of the drive, % at most"),
)
HEAD = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|"


def row(head: str, case: Case, runs: Sequence[Reported]) -> str:
    """Return the table row of all runs of a case."""
    counts = [
        f"{sum(not differences(case, run) for run in runs)} of {len(runs)}",
        *(str(sum(finding in run.findings for run in runs)) for finding in (RATE, LATE, BUSY)),
        str(sum(run.blames_host for run in runs)),
        *(str(sum(run.vote == vote for run in runs)) for vote in (FULL_VOTE, ONE_VOTE)),
        f"{max(run.late_replies_pct for run in runs):.1f}",
    ]
    return f"| {head} | {case.name} | {case.vote} | {' | '.join(counts)} |"


@dataclass(frozen=True)
class Measurement:
    """How the cases are measured. A run on an idle host is repeated if others disturbed it, whatever it reported."""

    program: Path
    runs_count: int
    tries: int
    is_disturbed: Callable[[Used], bool]

    def rows(self, drive: "Drive", place: str, device: str, engines: Sequence[str]) -> Iterator[str]:
        """Print the rows of a place, and yield a sentence on each run that differs."""
        for engine in engines:
            for case in CASES:
                runs = [self.run(drive, case, device, engine) for _ in range(self.runs_count)]
                print(row(f"{place} | {engine}", case, runs), flush=True)
                for number, run in enumerate(runs, 1):
                    if found := differences(case, run):
                        yield f"{place}, {engine}, {case.name}, run {number}: {'; '.join(found)}"

    def run(self, drive: "Drive", case: Case, device: str, engine: str) -> Reported:
        """Run a case until others do not disturb it, and return what the last run reports."""
        for _ in range(self.tries):
            run, used = self.run_once(drive, case, device, engine)
            if case.is_host_overloaded or not self.is_disturbed(used):
                break
            lost = f"{used.programs_pct:.1f} % of a processor to other programs, {used.stolen_pct:.1f} % to machines"
            print(f"{case.name} lost {lost}", file=sys.stderr, flush=True)
        return run

    def run_once(self, drive: "Drive", case: Case, device: str, engine: str) -> tuple[Reported, Used]:
        size = "" if device.startswith("/dev/") else f"file-size-mbytes: {Path(device).stat().st_size >> 20}\n"
        drive.do(*case.commands)
        with tempfile.TemporaryDirectory() as folder:
            config, log, side = (Path(folder) / name for name in ("config", "log", "side.jsonl"))
            config.write_text(
                f"device-names: {device}\n{size}test-duration-sec: {SECONDS}\nread-reqs-per-sec: {case.reads_per_s}\n"
                f"service-threads: 32\nmicrosecond-histograms: yes\nengine: {engine}\n"
            )
            if case.is_host_overloaded:
                drive.do("burn")
            used = timed([self.program, "storage", config, "--log", log, "--side-file", side], {drive.process.pid})
            if case.is_host_overloaded:
                drive.do("rest")
            truth = drive.truth()
            profile = ["--profile", "operational-database", "--slice-sec", "1"]
            command: list[str | Path] = [self.program, "read", "--json", *profile, "--with", side, log]
            document = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        return reported(document, 100 * truth.late_count / truth.answered_count), used
