from django.db import migrations


class Migration(migrations.Migration):
    """Apart from the move of the keys: PostgreSQL alters no table in the transaction that has written its rows' keys."""

    dependencies = [
        ('results', '0008_submission_keys'),
    ]

    operations = [
        migrations.RemoveConstraint(model_name='submission', name='one_submission_per_idempotency_key'),
        migrations.RemoveField(model_name='submission', name='idempotency_key'),
    ]
