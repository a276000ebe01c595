from django.db import migrations, models

HASH = """
UPDATE results_submission
SET link_digest = encode(sha256(convert_to(link_key, 'UTF8')), 'hex'), link_expires_at = now() + interval '90 days'
WHERE link_key <> ''
"""


class Migration(migrations.Migration):
    """Hashes the keys of links. Links that were already sent work for 90 days more.

    The column of the keys is removed by 0038: PostgreSQL alters no table in the transaction that has written its rows.
    """

    dependencies = [
        ("results", "0036_product_aliases_facts_and_moves"),
    ]

    operations = [
        migrations.AddField(
            model_name="submission",
            name="link_digest",
            field=models.CharField(blank=True, db_default="", default="", max_length=64),
        ),
        migrations.AddField(
            model_name="submission",
            name="link_expires_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.RunSQL(HASH, migrations.RunSQL.noop),
    ]
