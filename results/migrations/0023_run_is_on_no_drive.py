"""Whether a run was made on no drive is in its facts: the database reckons it, so that tables need not read them."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0022_verdict_is_decided_by_limits'),
    ]

    operations = [
        migrations.AddField(
            model_name='run',
            name='is_on_no_drive',
            field=models.GeneratedField(
                db_persist=True,
                expression=models.ExpressionWrapper(
                    models.Q(('facts__is_virtual_device', True)), output_field=models.BooleanField()
                ),
                null=True,
                output_field=models.BooleanField(),
            ),
        ),
    ]
