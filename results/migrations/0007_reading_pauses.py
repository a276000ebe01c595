from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0006_virtual_runs'),
    ]

    operations = [
        migrations.RemoveField(model_name='reading', name='deadline'),
        migrations.AddField(
            model_name='reading',
            name='next_attempt_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='reading',
            name='counted_attempts',
            field=models.PositiveSmallIntegerField(default=0),
        ),
    ]
