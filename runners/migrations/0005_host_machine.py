from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('runners', '0004_virtual_runs'),
    ]

    operations = [
        migrations.AddField(
            model_name='host',
            name='machine_id',
            field=models.CharField(blank=True, max_length=64),
        ),
    ]
