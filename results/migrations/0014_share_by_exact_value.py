"""The index alone answers which runs hold a limit."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0013_exact_shares'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='share',
            index=models.Index(fields=['statistic', 'threshold_us', 'share_pct'], include=('run',), name='share_by_exact_value'),
        ),
        migrations.RemoveIndex(
            model_name='share',
            name='share_by_value',
        ),
    ]
