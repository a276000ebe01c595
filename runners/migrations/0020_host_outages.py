"""One row for each outage of a host, instead of counters and a JSON column on each dispatch.

Release 0.2 stored for each dispatch the open outages, the number and total time of all that ended, and a line of the
history for the first ten, the 20th, the 50th and so on. Each of these lines becomes a row; the times of the others are
not known, so one row adds them up. The history itself is not changed.
"""

import re
from datetime import UTC, datetime, timedelta

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import F, Q, Sum

LINE = re.compile(r"no answer from (\S+) for ([\d.,]+) s, since (\d\d):(\d\d):(\d\d) UTC; (it answers again)?")
ON_HOST = ["preparing", "running", "collecting"]
MS = timedelta(milliseconds=1)
DECIMALS_BELOW_S = 10
CAUSE = "no-answer"


def add_rows(apps, editor):
    Dispatch, Host = apps.get_model("runners", "Dispatch"), apps.get_model("runners", "Host")
    hosts = {host.name: host for host in Host.objects.all()}
    silent = Q(silent_since__isnull=False, state__in=ON_HOST)
    stored = Dispatch.objects.filter(~Q(open_outages={}) | Q(outages_count__gt=0) | silent)
    for dispatch in stored.select_related("device__host").order_by("pk"):
        for host, since in open_outages(dispatch, hosts):
            add_open(apps, dispatch, host, since)
        add_ended(apps, dispatch, hosts)


def open_outages(dispatch, hosts):
    """Return the hosts that do not answer, with their last answers. The first releases named no host."""
    own = dispatch.device.host
    if dispatch.open_outages:
        named = dispatch.open_outages.items()
        return [(hosts.get(name, own), datetime.fromisoformat(since)) for name, since in named]
    if dispatch.silent_since is None or dispatch.state not in ON_HOST:
        return []
    return [(own, min(dispatch.heartbeat_at or dispatch.silent_since, dispatch.silent_since))]


def add_open(apps, dispatch, host, since):
    """Open the outage of a host, or extend the open one: several dispatches may have stored it."""
    HostOutage = apps.get_model("runners", "HostOutage")
    row, _ = HostOutage.objects.get_or_create(host=host, until=None, defaults={"cause": CAUSE, "since": since})
    HostOutage.objects.filter(pk=row.pk, since__gt=since).update(since=since)
    row.dispatches.add(dispatch)


def add_ended(apps, dispatch, hosts):
    """Add a row for each listed outage and one for the others, such that number and total stay exactly the same."""
    steps = dispatch.steps.filter(kind="host-outage").order_by("at", "id")
    listed = [line for step in steps if (line := parse(step))]
    rest_count = dispatch.outages_count - len(listed)
    rest = dispatch.outages_ms * MS - sum((length for _, _, length, _ in listed), timedelta())
    # A line has a rounded length. What rounding took is given back to each in proportion, and never shows.
    errors = [0.0 if rest_count > 0 else resolution(length) for _, _, length, _ in listed]
    for (name, since, length, is_answered), error in zip(listed, errors, strict=True):
        exact = max(length + rest * (error / sum(errors) if error else 0.0), timedelta())
        add_row(apps, dispatch, hosts.get(name), since, since + exact, is_answered, 1)
    if rest_count > 0:
        since = listed[-1][1] if listed else dispatch.started_at or dispatch.ordered_at
        add_row(apps, dispatch, None, since, since + max(rest, timedelta()), True, rest_count)


def add_row(apps, dispatch, host, since, until, is_answered, count):
    columns = {"since": since, "until": until, "is_answered": is_answered, "count": count, "cause": CAUSE}
    row = apps.get_model("runners", "HostOutage").objects.create(host=host or dispatch.device.host, **columns)
    row.dispatches.add(dispatch)


def parse(step):
    """Return host, start, length and whether the host answered again, from the sentence of release 0.2."""
    found = LINE.match(step.reason)
    if found is None:
        return None
    length = timedelta(seconds=float(found[2].replace(",", "")))
    # The line was added when the outage ended. It has the time of the start, without the day.
    about = step.at.astimezone(UTC) - length
    at_that_time = about.replace(hour=int(found[3]), minute=int(found[4]), second=int(found[5]), microsecond=0)
    days = (at_that_time + timedelta(days=days) for days in (-1, 0, 1))
    return found[1], min(days, key=lambda since: abs(since - about)), length, found[6] is not None


def resolution(length):
    return 0.05 if length < timedelta(seconds=DECIMALS_BELOW_S) else 0.5


def restore_columns(apps, editor):
    Dispatch, HostOutage = apps.get_model("runners", "Dispatch"), apps.get_model("runners", "HostOutage")
    for outage in HostOutage.objects.filter(until=None).select_related("host"):
        for dispatch in outage.dispatches.all():
            dispatch.open_outages |= {outage.host.name: outage.since.isoformat()}
            dispatch.save(update_fields=["open_outages"])
    ended = HostOutage.objects.filter(until__isnull=False).values("dispatches")
    totals = ended.order_by().annotate(number=Sum("count"), length=Sum(F("until") - F("since")))
    for row in totals:
        columns = {"outages_count": row["number"], "outages_ms": round(row["length"] / MS)}
        Dispatch.objects.filter(pk=row["dispatches"]).update(**columns)


class Migration(migrations.Migration):
    dependencies = [("runners", "0019_campaign_entry_labels")]

    operations = [
        migrations.CreateModel(
            name="HostOutage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "cause",
                    models.CharField(
                        choices=[
                            ("no-answer", "No Answer"),
                            ("host-error", "Host Error"),
                            ("late-answer", "Late Answer"),
                        ],
                        max_length=12,
                    ),
                ),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField(null=True)),
                ("is_answered", models.BooleanField(db_default=False, default=False)),
                ("count", models.PositiveIntegerField(db_default=1, default=1)),
                ("dispatches", models.ManyToManyField(related_name="outages", to="runners.dispatch")),
                (
                    "host",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="outages", to="runners.host"
                    ),
                ),
            ],
            options={"ordering": ["since", "id"]},
        ),
        migrations.AddConstraint(
            "hostoutage",
            models.UniqueConstraint(
                fields=["host"], condition=Q(until__isnull=True), name="one_open_outage_per_host"
            ),
        ),
        migrations.RunPython(add_rows, restore_columns),
        migrations.RemoveField("dispatch", "outages_count"),
        migrations.RemoveField("dispatch", "outages_ms"),
        migrations.RemoveField("dispatch", "open_outages"),
    ]
