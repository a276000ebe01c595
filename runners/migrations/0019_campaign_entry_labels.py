from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('runners', '0018_dispatch_field_names'),
    ]

    operations = [
        migrations.AlterField(
            model_name='campaignentry',
            name='kind',
            field=models.CharField(choices=[('started', 'Started'), ('ordered', 'Ordered'), ('rested', 'Rested'), ('paused', 'Paused'), ('resumed', 'Resumed'), ('changed', 'Changed'), ('cancel-asked', 'cancel requested'), ('cancelled', 'Cancelled'), ('finished', 'Finished')], max_length=12),
        ),
    ]
