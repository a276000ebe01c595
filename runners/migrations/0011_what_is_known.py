"""What the lab has to know to believe an absence, a preparation and a silence."""

import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('runners', '0010_dispatch_due'),
    ]

    operations = [
        migrations.AddField(
            model_name='dispatch',
            name='boot_ids',
            field=models.JSONField(db_default=models.Value([], models.JSONField()), default=list),
        ),
        migrations.AddField(
            model_name='dispatch',
            name='is_never_started',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='dispatch',
            name='end_asked_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='host',
            name='next_check_at',
            field=models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
        ),
        migrations.AddField(
            model_name='host',
            name='silent_checks',
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
    ]
