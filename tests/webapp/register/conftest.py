"""Rows for the tests of pages: published ones from the catalogue, and a run with the counts of a real log."""

from datetime import timedelta
from decimal import Decimal
from itertools import count
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from results.models import (
    Evidence,
    Finding,
    Histogram,
    Organisation,
    Product,
    Profile,
    Reading,
    Run,
    Share,
    Slice,
    Submission,
    Tier,
    Verdict,
    Visibility,
)
from tests.results.builders import verify_address
from tests.results.fixtures import evidence_dir, program, real_reader
from tests.webapp.catalogue import catalogue, database_of_the_test
from webapp.accounts.models import User

__all__ = ["catalogue", "database_of_the_test", "evidence_dir", "program", "real_reader"]

# Reads of tests/data/act/6.6/slow-disk-ms.log in slices of 10 s: operations, then counts by bucket of milliseconds.
SLOW_DISK_SLICES = [
    (6000, [5919, 60, 10, 10, 0, 1]),
    (6000, [5929, 13, 0, 19, 9, 0, 10, 0, 10, 0, 10]),
    (6000, [5771, 140, 31, 11, 27, 10, 0, 0, 10]),
    (6006, [5656, 119, 108, 43, 40, 22, 18]),
]
SLOW_DISK_VERDICT: dict[str, Any] = {
    "outcome": "fail",
    "headline": "fails: slice 2 (10-20 s), reads over 64 ms: 0.33 % > 0.1 %; also over 1 ms and 8 ms",
    "histogram": "reads",
    "shares": [
        {"statistic": "worst-slice", "threshold_us": 1000, "read_at_us": 1000, "share_pct": "5.83", "slice": 4}
        | {"over_count": 350, "ops_count": 6006},
        {"statistic": "worst-slice", "threshold_us": 8000, "read_at_us": 8000, "share_pct": "1.33", "slice": 4}
        | {"over_count": 80, "ops_count": 6006},
        {"statistic": "worst-slice", "threshold_us": 64000, "read_at_us": 64000, "share_pct": "0.33", "slice": 2}
        | {"over_count": 20, "ops_count": 6000},
        {"statistic": "overall", "threshold_us": 1000, "read_at_us": 1000, "share_pct": "3.04", "slice": None}
        | {"over_count": 731, "ops_count": 24006},
    ],
    "violations": [
        {"slice": 2, "threshold_us": 64000, "read_at_us": 64000, "share_pct": "0.33", "limit_pct": "0.1"}
        | {"over_count": 20, "ops_count": 6000, "excess_ratio": "3.33"},
        {"slice": 3, "threshold_us": 64000, "read_at_us": 64000, "share_pct": "0.17", "limit_pct": "0.1"}
        | {"over_count": 10, "ops_count": 6000, "excess_ratio": "1.67"},
        {"slice": 4, "threshold_us": 8000, "read_at_us": 8000, "share_pct": "1.33", "limit_pct": "1"}
        | {"over_count": 80, "ops_count": 6006, "excess_ratio": "1.33"},
        {"slice": 4, "threshold_us": 1000, "read_at_us": 1000, "share_pct": "5.83", "limit_pct": "5"}
        | {"over_count": 350, "ops_count": 6006, "excess_ratio": "1.17"},
    ],
    "reasons": ["ran 40 s in slices of 10 s; the profile asks 86400 s in slices of 3600 s"],
}
SLOW_DISK_FACTS: dict[str, Any] = {
    "config": [["device-names", "/dev/loop4"], ["num-devices", "1"], ["service-threads", "10"]],
    "derived": [["record-stored-bytes", "1536 ... 1536"]],
    "devices": [{"name": "/dev/loop4", "size_bytes": 536870912, "minimum_io_bytes": 512}],
    "device_count": 1,
    "stop": {"kind": "finished", "line": None, "text": ""},
    "unit": "ms",
    "reached_s": 40,
    "report_interval_s": 1,
    "generator": "act",
    "io_errors_count": 0,
    "first_line": 2,
    "last_line": 618,
}
LOG_BYTES = b"\nACT version 6.6\n"
numbers = count(1)


@pytest.fixture(autouse=True)
def data_dir(tmp_path, settings):
    """Dumps, snapshots and telemetry below a directory of the test's own."""
    settings.DATA_DIR = tmp_path
    settings.SNAPSHOT_DIR = tmp_path / "snapshots"
    settings.TELEMETRY_DIR = tmp_path / "telemetry"
    return tmp_path


@pytest.fixture
def make_product(db):
    """Return a function that makes a flash drive, by default with a sequential name."""

    def make(**fields):
        number = next(numbers)
        stated: dict[str, Any] = {
            "slug": f"exemplar-{number}",
            "vendor": "Exemplar",
            "model": f"EX{number}",
            "capacity_gb": 3200,
        }
        return Product.objects.create(**{"category": "nvme-flash"} | stated | fields)

    return make


@pytest.fixture
def make_published_run(make_product):
    """Return a function that makes a published run with shares as printed: {threshold in us: text}."""

    def make(shares=None, product=None, **fields):
        stated: dict[str, Any] = {
            "tier": Tier.PUBLISHED,
            "visibility": Visibility.PUBLIC,
            "predates_approvals": True,
            "statistic": "steady-as-published",
        }
        stated |= {"tps": Decimal(300_000), "duration_s": 86_400, "tool": "act_storage", "tool_version": "6.0"}
        run = Run.objects.create(**stated | {"product": product or make_product()} | fields)
        for threshold_us, printed in (shares or {1000: "4.00", 8000: "0.10", 64000: "0.00"}).items():
            Share.objects.create(
                run=run,
                statistic=run.statistic,
                threshold_us=threshold_us,
                printed=printed,
                share_pct=Decimal(printed),
            )
        return run

    return make


@pytest.fixture
def organisation(db):
    return Organisation.objects.create(
        slug="exemplar", name="Exemplar Storage", kind="vendor", confirmed_at="2026-01-01T00:00Z"
    )


@pytest.fixture
def make_log_run(make_product, organisation):
    """Return a function that makes a run as the reader stores it, with the real counts of the slow disk."""

    def make(slices=SLOW_DISK_SLICES, document=SLOW_DISK_VERDICT, unit="ms", slice_length_s=10, **fields):
        submission = make_submission(organisation)
        reading = Reading.objects.create(evidence=submission.log, reader_version="0.1.0", state="done")
        stated: dict[str, Any] = {
            "tier": Tier.VENDOR_REPORTED,
            "visibility": Visibility.PUBLIC,
            "predates_approvals": True,
            "statistic": "worst-slice",
        }
        stated |= {"tool": "act_storage", "tool_version": "6.6", "tps": Decimal(900), "duration_s": 40}
        stated |= {"submission": submission, "reading": reading, "facts": SLOW_DISK_FACTS}
        stated |= {"reads_per_s": Decimal(600), "writes_per_s": Decimal(300), "slice_length_s": slice_length_s}
        product = {} if "product" in fields else {"product": make_product()}
        run = Run.objects.create(**stated | product | fields)
        add_slices(run, slices, unit, slice_length_s)
        add_verdict(run, document)
        return run

    return make


@pytest.fixture
def make_embargoed_run(make_log_run):
    """Return a function that makes a reviewed run whose embargo ends tomorrow."""

    def make(**fields):
        run = make_log_run(visibility=Visibility.EMBARGOED, **fields)
        run.submission.embargo_until = timezone.now().replace(second=0, microsecond=0) + timedelta(days=1)
        run.submission.save()
        return run

    return make


def make_submission(organisation):
    number = next(numbers)
    evidence = Evidence.objects.create(
        organisation=organisation, sha256=f"{number:064x}", size_bytes=len(LOG_BYTES), filename="slow-disk-ms.log"
    )
    return Submission.objects.create(
        organisation=organisation, origin="form", log=evidence, vendor="Exemplar", model="EX9", capacity_gb=960
    )


def add_slices(run, slices, unit, slice_length_s):
    total = sum(ops_count for ops_count, _ in slices)
    Histogram.objects.create(run=run, ordinal=0, name="reads", unit=unit, ops_count=total, counts=[])
    for number, (_, counts) in enumerate(slices, start=1):
        Slice.objects.create(
            run=run,
            number=number,
            start_s=(number - 1) * slice_length_s,
            end_s=number * slice_length_s,
            first_line=number * 100,
            last_line=number * 100 + 99,
            counts=[counts or [0]],
        )


def add_verdict(run, document):
    Verdict.objects.create(
        run=run,
        profile=Profile.objects.get(name="operational-database"),
        outcome=document["outcome"],
        headline=document["headline"],
        document=document,
        reader_version="0.1.0",
    )
    for share in document["shares"]:
        Share.objects.create(
            run=run,
            statistic=share["statistic"],
            threshold_us=share["threshold_us"],
            read_at_us=share["read_at_us"],
            share_pct=Decimal(share["share_pct"]),
            printed=share["share_pct"],
            over_count=share["over_count"],
            ops_count=share["ops_count"],
            slice_number=share["slice"],
        )
    Finding.objects.create(
        run=run,
        ordinal=0,
        rule_id="share-over-limit",
        severity="decides",
        line=434,
        sentence="Slice 2: reads over 64 ms, 0.33 % > 0.1 %.",
    )


@pytest.fixture
def make_user(db):
    """Return a function that makes a user."""

    def make(**fields):
        user = User.objects.create_user(username=f"user-{next(numbers)}", password="a long enough password", **fields)
        verify_address(user)
        return user

    return make


@pytest.fixture
def count_queries(client, django_assert_max_num_queries):
    """Return a function that counts the queries of a page."""

    def count(path):
        with django_assert_max_num_queries(50) as captured:
            assert client.get(path).status_code == 200
        return len(captured.captured_queries)

    return count


@pytest.fixture
def count_rows(client):
    """Return a function that counts the rows that the statements of a page return."""

    def count(path):
        rows = []

        def execute(run, sql, params, many, context):
            result = run(sql, params, many, context)
            rows.append(max(0, context["cursor"].rowcount))
            return result

        with connection.execute_wrapper(execute):
            assert client.get(path).status_code == 200
        return sum(rows)

    return count
