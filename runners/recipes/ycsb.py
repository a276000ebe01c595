"""A YCSB sweep: format, mount, start the database, load, settle, one run per thread count, stop, unmount.

Each stage is one program that the host's operator allows by name (docs/reference/lab.md). `drivetest watch` runs it and
records telemetry of the drive. Progress is the number of operations. The result is one submission: an archive with the
outputs of every stage, standard output, standard error, HDR files, side file, command line and configuration.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from io import BytesIO
from typing import IO, Any

from django.conf import settings

from runners.errors import FileMissingError
from runners.evidence.submit import LOG_FILE, SIDE_FILE, command_text, fetch_optional, submit_archive
from runners.hosts.host_pair import telemetry_run
from runners.hosts.protocol import LabHost, ProgramStatus
from runners.models import Dispatch, Host, StageEnd
from runners.monitoring.progress import follow_client, parse_record, tail
from runners.recipes.base import Role, Stage, consent, run_of
from runners.recipes.ycsb_presets import AEROSPIKE, BASIC, ROCKSDB, SERVERS, workload_text
from runners.recipes.ycsb_setup import (
    CONFIGURATION_FILE,
    HDR_PREFIX,
    PROGRAMS,
    WORKLOAD_FILE,
    Setup,
    load_line,
    parse_setup,
    run_line,
)

LABEL = "YCSB"
LOAD, SETTLE = "load", "settle"
DEVICE = "{device}"  # drivetest replaces it with the drive's path
# The client's operations, with what it adds to their names. Source: site.ycsb.DBWrapper and Measurements.
OPERATIONS = ("READ", "UPDATE", "INSERT", "SCAN", "READ-MODIFY-WRITE", "DELETE", "CLEANUP")
VARIANTS = ("{}", "{}-FAILED", "Intended-{}")
# Compaction and defragmentation are over when the drive writes less than this for that long.
QUIET_BYTES_PER_S, QUIET_FOR_S, QUIET_AT_MOST_S = 10_000_000, 60, 6 * 3600
HEAD_BYTES = 256 * 1024


def stages(dispatch: Dispatch) -> tuple[Stage, ...]:
    """Return the stages of the sweep, each with its time limit."""
    setup = parse_setup(dispatch.options)
    every = (*_before(dispatch, setup), *_measured(dispatch, setup), *_after(dispatch, setup))
    return tuple(replace(stage, limit_s=_limit_s(stage, setup)) for stage in every)


def _limit_s(stage: Stage, setup: Setup) -> int:
    """Return how long a stage may take. If the order limits a run, the client's own limit counts."""
    if stage.name == SETTLE:
        return QUIET_AT_MOST_S
    if not stage.is_measured:
        return int(settings.STAGE_LIMIT_S)
    client_s: int = settings.CLIENT_LIMIT_S
    return client_s if setup.max_execution_s is None or stage.name == LOAD else setup.max_execution_s


def _before(dispatch: Dispatch, setup: Setup) -> Iterator[Stage]:
    plan = setup.plan
    if plan.file_system:
        make = [f"mkfs-{plan.file_system}", "-f", DEVICE]
        yield Stage("format", _overwrite(dispatch, make), resets_drive=True)
        options = ["-o", plan.mount_options] if plan.mount_options else []
        yield Stage(
            "mount", _watch_argv(dispatch, ["mount", "-t", plan.file_system, *options, DEVICE, plan.mount_point])
        )
    if plan.binding in SERVERS:
        # Without a configuration in the order, the operator's program uses its own.
        start = [SERVERS[plan.binding][0], *(f"../{name}" for name in _configuration(setup))]
        # Aerospike wipes a raw device at its first start. MongoDB has a file system, which was just made.
        is_raw = plan.binding == AEROSPIKE
        argv = (_overwrite if is_raw else _watch_argv)(dispatch, start)
        yield Stage("database", argv, _configuration(setup), resets_drive=is_raw)


def _measured(dispatch: Dispatch, setup: Setup) -> Iterator[Stage]:
    yield _client(dispatch, setup, LOAD, load_line(setup), setup.plan.workloads[0])
    if setup.plan.binding != BASIC:
        quiet = ("--until-writes-below", str(QUIET_BYTES_PER_S), "--for-sec", str(QUIET_FOR_S))
        yield Stage(SETTLE, (*telemetry_argv(dispatch), *quiet, "--at-most-sec", str(QUIET_AT_MOST_S)))
    for workload in setup.plan.workloads:
        for threads in setup.plan.threads:
            line = run_line(setup, workload, threads)
            yield _client(dispatch, setup, f"run-{workload}-t{threads:03d}", line, workload)


def _after(dispatch: Dispatch, setup: Setup) -> Iterator[Stage]:
    if setup.plan.binding in SERVERS:
        yield Stage("stop", _watch_argv(dispatch, [SERVERS[setup.plan.binding][1]]), is_cleanup=True)
    if setup.plan.file_system:
        yield Stage("unmount", _watch_argv(dispatch, ["unmount", setup.plan.mount_point]), is_cleanup=True)


def _client(dispatch: Dispatch, setup: Setup, name: str, line: list[str], workload: str) -> Stage:
    """Return the stage of a client. It runs on the drive's host, or on a second host that has no drive."""
    files = {WORKLOAD_FILE.format(workload): workload_text(workload).encode()}
    if setup.plan.binding == ROCKSDB:
        files |= _configuration(setup)
    is_alone = dispatch.load_host is None
    argv = _watch_argv(dispatch, [PROGRAMS[setup.client], *line], host=dispatch.load_host)
    return Stage(name, argv, files, Role.DATABASE if is_alone else Role.LOAD, is_measured=True)


def _configuration(setup: Setup) -> dict[str, bytes]:
    return {CONFIGURATION_FILE: setup.configuration.encode()} if setup.configuration else {}


def _watch_argv(dispatch: Dispatch, command: Iterable[str], host: Host | None = None) -> tuple[str, ...]:
    """Return drivetest's arguments for a program with telemetry; of the drive, unless it is on another host."""
    head = ("watch", "--side-file", SIDE_FILE) if host else telemetry_argv(dispatch)
    return (*head, *_programs(host or dispatch.device.host), "--", *command)


def _overwrite(dispatch: Dispatch, command: Iterable[str]) -> tuple[str, ...]:
    """Return drivetest's arguments for a program that overwrites the drive, which is checked as before a load."""
    head, *rest = _watch_argv(dispatch, command)
    return (head, "--will-overwrite", *consent(dispatch.options), *rest)


def programs(dispatch: Dispatch, role: Role) -> set[str]:
    """Return the names of the programs that a host in this role has to allow. Raise SetupError."""
    lines = [stage.argv for stage in stages(dispatch) if stage.role is role]
    return {argv[argv.index("--") + 1] for argv in lines if "--" in argv}


def telemetry_argv(dispatch: Dispatch) -> tuple[str, ...]:
    """Return drivetest's arguments for telemetry of the drive alone, while another host sends requests."""
    return ("watch", dispatch.device.path, "--expect-drive", dispatch.drive_key, "--side-file", SIDE_FILE)


def _programs(host: Host) -> tuple[str, ...]:
    """Return the option for the list of programs. Only this machine's list may be set by the register's settings."""
    is_ours = not host.is_remote and settings.LAB_PROGRAMS
    return ("--programs", str(settings.LAB_PROGRAMS)) if is_ours else ()


def progress(dispatch: Dispatch, host: LabHost, run: str, status: ProgramStatus) -> dict[str, Any]:
    """Return the columns that follow a stage: the client's last status line and the end of its output."""
    stage = run.partition(".")[2]
    before, lines = dispatch.progress.get("ycsb", {}), dispatch.progress.get("tail", [])
    client = follow_client(host, run, before if before.get("stage") == stage else {"stage": stage})
    if status.log_bytes not in {0, dispatch.log_bytes}:
        lines = tail(host, run, status.log_bytes)
    columns = {"log_bytes": status.log_bytes, "progress": {"ycsb": client, "tail": lines}}
    return {} if columns == {name: getattr(dispatch, name) for name in columns} else columns


def collect(dispatch: Dispatch, host: LabHost) -> dict[str, Any]:
    """Submit the outputs as an archive. Without a client's log there is nothing to read, and nothing is submitted."""
    ends = {end.ordinal: end for end in dispatch.stage_ends.all()}
    ended = [(stage, ends[ordinal]) for ordinal, stage in enumerate(stages(dispatch)) if ordinal in ends]
    if not any(stage.is_measured for stage, _ in ended):
        return {}
    return {"submission": submit_archive(dispatch, _members(dispatch, host, ended))}


def _members(dispatch: Dispatch, host: LabHost, ended: list[tuple[Stage, StageEnd]]) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield the files of every ended stage. Their names bind them to their log (docs/reference/formats.md)."""
    for stage, end in ended:
        run = run_of(dispatch.public_id, stage)
        yield f"{stage.name}.cmd", BytesIO(command_text(_argv_run(host, run), end.exit_status))
        files = [(run, file, suffix) for file, suffix in outputs(stage)]
        if stage.role is Role.LOAD:
            files.append((telemetry_run(run), SIDE_FILE, "-database.jsonl"))
        for directory, file, suffix in files:
            with fetch_optional(host, directory, file) as stream:
                if stream is not None:
                    yield f"{stage.name}{suffix}", stream


def outputs(stage: Stage) -> Iterator[tuple[str, str]]:
    """Yield the files that a stage may have left, each with its suffix in the archive."""
    yield LOG_FILE, ".log" if stage.is_measured else ".txt"
    yield "stderr", ".stderr" if stage.is_measured else "-stderr.txt"
    yield SIDE_FILE, ".jsonl"
    for file in stage.files:
        yield file, "/database.conf" if file == CONFIGURATION_FILE else f"/{file}"
    if stage.is_measured:
        for operation in (variant.format(name) for name in OPERATIONS for variant in VARIANTS):
            yield f"out/{HDR_PREFIX}{operation}.hdr", f"/{operation}.hdr"


def _argv_run(host: LabHost, run: str) -> list[str]:
    """Return the command that actually ran, from the side file. It has the drive's path in place of {device}."""
    try:
        head = host.read(run, SIDE_FILE, 0, HEAD_BYTES)
    except FileMissingError:
        return []
    start = parse_record(head.partition(b"\n")[0]) or {}
    return [str(word) for word in (start.get("watch") or {}).get("argv") or []]
