"""Record changes of the runs that tables list, so that a process reads only those again."""

import django.contrib.postgres.fields
import django.contrib.postgres.functions
from django.db import migrations, models

RECORD = """
CREATE FUNCTION record_listing_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  rows text := CASE TG_OP WHEN 'INSERT' THEN 'SELECT * FROM new_rows' WHEN 'DELETE' THEN 'SELECT * FROM old_rows'
                          ELSE 'SELECT * FROM old_rows UNION ALL SELECT * FROM new_rows' END;
  -- These counters change with each publication and edit; no table shows them.
  products text := CASE TG_OP WHEN 'UPDATE' THEN
    $q$SELECT new_row.id FROM new_rows new_row JOIN old_rows old_row USING (id)
       WHERE to_jsonb(new_row) - 'attempts' - 'version' IS DISTINCT FROM to_jsonb(old_row) - 'attempts' - 'version'$q$
    ELSE rows END;
  listed text := $q$visibility IN ('public', 'superseded', 'withdrawn')$q$;
  ids bigint[];
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    INSERT INTO results_listingchange (run_id) VALUES (NULL);
    RETURN NULL;
  END IF;
  IF TG_ARGV[0] = 'run' THEN
    EXECUTE format('SELECT array_agg(DISTINCT id) FROM (%s) changed WHERE %s', rows, listed) INTO ids;
  ELSIF TG_ARGV[0] = 'product' THEN
    EXECUTE format('SELECT array_agg(DISTINCT run.id) FROM results_run run WHERE run.%s'
                   ' AND run.product_id IN (SELECT id FROM (%s) changed)', listed, products) INTO ids;
  ELSE
    EXECUTE format('SELECT array_agg(DISTINCT run.id) FROM results_run run WHERE run.%s'
                   ' AND run.id IN (SELECT run_id FROM (%s) changed)', listed, rows) INTO ids;
  END IF;
  IF cardinality(ids) > 1000 THEN
    INSERT INTO results_listingchange (run_id) VALUES (NULL);
  ELSE
    INSERT INTO results_listingchange (run_id) SELECT unnest(ids);
  END IF;
  RETURN NULL;
END $$;
"""
KINDS = {"run": "run", "product": "product", "share": "part", "verdict": "part", "annotation": "part"}
ROWS = {
    "INSERT": "REFERENCING NEW TABLE AS new_rows",
    "UPDATE": "REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows",
    "DELETE": "REFERENCING OLD TABLE AS old_rows",
    "TRUNCATE": "",
}


def trigger(table, kind, operation):
    """Return the statements that create and remove a trigger, which runs once for each statement."""
    name = f"listing_change_{operation.lower()}"
    create = (
        f"CREATE TRIGGER {name} AFTER {operation} ON results_{table} {ROWS[operation]}"
        f" FOR EACH STATEMENT EXECUTE FUNCTION record_listing_change('{kind}');"
    )
    return create, f"DROP TRIGGER {name} ON results_{table};"


TRIGGERS = [trigger(table, kind, operation) for table, kind in KINDS.items() for operation in ROWS]


class Migration(migrations.Migration):
    """The table, its triggers, and one row, so that no two registers have the same ids."""

    dependencies = [("results", "0049_scrubs"), ("results", "0061_review_claims")]

    operations = [
        migrations.CreateModel(
            name="ListingChange",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        db_default=django.contrib.postgres.functions.RandomUUID(), primary_key=True, serialize=False
                    ),
                ),
                ("run_id", models.BigIntegerField(null=True)),
                (
                    "folded",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(),
                        db_default=models.Value([], django.contrib.postgres.fields.ArrayField(models.UUIDField())),
                        default=list,
                        size=None,
                    ),
                ),
            ],
        ),
        migrations.RunSQL(
            "INSERT INTO results_listingchange (run_id) VALUES (NULL);", migrations.RunSQL.noop
        ),
        migrations.RunSQL(
            RECORD + "\n".join(create for create, _ in TRIGGERS),
            "\n".join(drop for _, drop in TRIGGERS) + "\nDROP FUNCTION record_listing_change();",
        ),
    ]
