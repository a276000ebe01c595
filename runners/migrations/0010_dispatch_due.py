import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('runners', '0009_campaign_entries_append_only'),
    ]

    operations = [
        migrations.AddField(
            model_name='dispatch',
            name='next_look_at',
            field=models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
        ),
        migrations.AddIndex(
            model_name='dispatch',
            index=models.Index(condition=models.Q(('state__in', ['cancelled', 'done', 'failed', 'refused']), _negated=True), fields=['next_look_at'], name='dispatch_due'),
        ),
    ]
