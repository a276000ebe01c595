"""A register of any size, generated with a fixed seed: products with runs, their logs' rows, hosts and dispatches.

Half of the runs have a log: a submission, a reading, a verdict, a histogram and 24 slices. One in 100 of them waits for
review. The bytes of the logs are not stored.
"""

from django.db import connection
from generated_products import generate

from results.models import Organisation

ORGANISATIONS = 10
DEVICES_A_HOST = 2
SLICES_A_RUN = 24
HOST_KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"  # of no host
COUNTS = f"ARRAY[{', '.join(['(random() * 1000000)::bigint'] * 20)}]"  # of a histogram

# Each statement adds the rows that are still missing, so that a register can be filled in steps.
LOGS = """
UPDATE results_product SET attempts = '[]' WHERE attempts IS NULL;
UPDATE results_verdict SET document = '{{"reasons": [], "violations": [], "shares": []}}' WHERE document = '{{}}';
UPDATE results_run SET visibility = 'unreviewed', published_at = NULL
WHERE tier = 'lab-verified' AND submission_id IS NULL AND id % 100 < 2 AND id % 2 = 0;
INSERT INTO results_evidence (organisation_id, kind, sha256, size_bytes, content_sha256, filename, received_at,
                              sequestered, hidden)
SELECT (SELECT min(id) FROM results_organisation) + id % {organisations}, 'run',
       encode(sha256(public_id::bytea), 'hex'), 400000, '', public_id || '.log', coalesce(started_at, now()),
       false, false
FROM results_run WHERE tier = 'lab-verified' AND submission_id IS NULL;
INSERT INTO results_submission (public_id, organisation_id, origin, log_id, vendor, model, part_number, capacity_gb,
                                firmware, category, slice_length_s, notes, is_virtual, product_id, received_at)
SELECT 's-' || substr(run.public_id, 3), evidence.organisation_id, 'dispatch', evidence.id, product.vendor,
       product.model, product.part_number, product.capacity_gb, run.firmware, product.category, 3600, '', false,
       product.id, evidence.received_at
FROM results_run run JOIN results_product product ON product.id = run.product_id
JOIN results_evidence evidence ON evidence.filename = run.public_id || '.log'
WHERE run.submission_id IS NULL;
INSERT INTO results_reading (evidence_id, reader_version, state, attempts, counted_attempts, created_at, started_at,
                             finished_at, findings, members)
SELECT id, '1', 'done', 1, 1, received_at, received_at, received_at, '[]', '[]'
FROM results_evidence WHERE NOT EXISTS (SELECT FROM results_reading WHERE evidence_id = results_evidence.id);
UPDATE results_run run SET submission_id = submission.id, reading_id = reading.id
FROM results_submission submission JOIN results_reading reading ON reading.evidence_id = submission.log_id
WHERE submission.public_id = 's-' || substr(run.public_id, 3) AND run.submission_id IS NULL;
UPDATE results_submission SET has_runs = true
WHERE NOT has_runs AND EXISTS (SELECT FROM results_run WHERE submission_id = results_submission.id);
INSERT INTO results_event (at, kind, subject_type, subject_id, reason, details)
SELECT published_at, 'run-published', 'run', public_id, '', '{{}}' FROM results_run run
WHERE visibility = 'public' AND published_at IS NOT NULL
  AND NOT EXISTS (SELECT FROM results_event WHERE subject_type = 'run' AND subject_id = run.public_id);
INSERT INTO results_histogram (run_id, ordinal, name, unit, role, device, time, edges, is_meaningless, ops_count,
                               counts)
SELECT id, 0, 'reads', 'us', 'reads', '', 'service', 'act', false, 172800000,
       {counts}
FROM results_run run
WHERE submission_id IS NOT NULL AND NOT EXISTS (SELECT FROM results_histogram WHERE run_id = run.id);
INSERT INTO results_slice (run_id, number, start_s, end_s, first_line, last_line, counts)
SELECT run.id, number, (number - 1) * 3600, number * 3600, number * 1000, number * 1000 + 900,
       ARRAY[{counts}]
FROM results_run run, generate_series(1, {slices}) number
WHERE submission_id IS NOT NULL AND NOT EXISTS (SELECT FROM results_slice WHERE run_id = run.id);
"""
LAB = """
INSERT INTO runners_host (name, kind, machine_id, address, port, "user", host_key, program_sha256, health, objections,
                          checked_at, added_at)
SELECT 'host-' || number, 'ssh', '', '192.0.2.1', 22, 'drivecert', 'ssh-ed25519 {key}', repeat('a', 64), '{{}}', '[]',
       now(), now()
FROM generate_series(1, {hosts}) number
WHERE NOT EXISTS (SELECT FROM runners_host WHERE name = 'host-' || number);
INSERT INTO runners_device (host_id, label, identity_kind, identity, drive_key, path, size_bytes, added_at)
SELECT host.id, 'drive ' || number, 'nvme', '{{"model": "EX4", "serial": "S1"}}', 'nvme/' || host.id || '/' || number,
       '/dev/nvme' || number || 'n1', 3200000000000, now()
FROM runners_host host, generate_series(1, {devices}) number
WHERE NOT EXISTS (SELECT FROM runners_device WHERE host_id = host.id);
INSERT INTO runners_dispatch (public_id, organisation_id, ordered_by_id, device_id, drive_key, recipe, nx_load,
                              duration_s, options, facts, slice_length_s, state, reason, generation, log_bytes,
                              last_label_s, progress, submission_id, ordered_at, started_at, ended_at, taken_in_at,
                              run_dirs_removed_at, purpose)
SELECT 'd-' || substr(submission.public_id, 3), submission.organisation_id,
       (SELECT min(id) FROM accounts_user), device.id, device.drive_key, 'act-storage', 1, 86400, '{{}}', '{{}}', 3600,
       'done', '', 1, 400000, 86400, '{{}}', submission.id, submission.received_at, submission.received_at,
       submission.received_at, submission.received_at, submission.received_at, ''
FROM results_submission submission
JOIN (SELECT id, drive_key, row_number() OVER (ORDER BY id) - 1 AS place, count(*) OVER () AS number
      FROM runners_device) device ON device.place = submission.id % device.number
WHERE NOT EXISTS (SELECT FROM runners_dispatch WHERE submission_id = submission.id);
"""


def fill(runs: int, products: int, hosts: int) -> None:
    """Add rows until the register has as many runs, products and hosts. It must have at least one user."""
    for number in range(Organisation.objects.filter(slug__startswith="org-").count(), ORGANISATIONS):
        Organisation.objects.create(
            slug=f"org-{number}", name=f"Organisation {number}", kind="vendor", confirmed_at="2026-01-01T00:00Z"
        )
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*), count(DISTINCT product_id) FROM results_run WHERE catalogue_key IS NULL")
        known_runs, known_products = cursor.fetchone()
        generate(products - known_products, seed=known_products + 6, runs=runs - known_runs)
        # Triggers of notifications and events only announce; each would be a message of its own.
        cursor.execute("SET session_replication_role = replica")
        for statement in LOGS.format(organisations=ORGANISATIONS, slices=SLICES_A_RUN, counts=COUNTS).split(";\n"):
            if statement.strip():
                cursor.execute(statement)
        for statement in LAB.format(hosts=hosts, devices=DEVICES_A_HOST, key=HOST_KEY).split(";\n"):
            if statement.strip():
                cursor.execute(statement)
        cursor.execute("SET session_replication_role = DEFAULT")
        cursor.execute("UPDATE results_run SET notes = notes WHERE id % 2 = 0")  # a change that triggers do see
        cursor.execute("ANALYZE")
