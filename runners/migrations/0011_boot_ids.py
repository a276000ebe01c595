"""Under which start of its machines a program was seen to run, and whether its host said that it never was started."""

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
    ]
