"""Marks what was run on virtual devices before submissions and runs told so."""

from django.db import migrations

SUBMISSIONS = """
UPDATE results_submission SET is_virtual = true WHERE id IN (
    SELECT dispatch.submission_id FROM runners_dispatch dispatch JOIN runners_device device
    ON device.id = dispatch.device_id WHERE device.identity_kind = 'virtual');
"""
RUNS = """
UPDATE results_run SET is_virtual = true WHERE submission_id IN (
    SELECT id FROM results_submission WHERE is_virtual);
"""


class Migration(migrations.Migration):
    dependencies = [("runners", "0003_dispatch_progress"), ("results", "0006_virtual_runs")]

    operations = [migrations.RunSQL([SUBMISSIONS, RUNS], migrations.RunSQL.noop)]
