import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0009_drop_idempotency_key'),
    ]

    operations = [
        migrations.CreateModel(
            name='Series',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('interval_s', models.PositiveIntegerField()),
                ('start_s', models.PositiveIntegerField(default=0)),
                ('intervals_count', models.PositiveIntegerField()),
                ('encoding', models.CharField(max_length=40)),
                ('packed', models.BinaryField()),
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='series', to='results.run')),
            ],
            options={
                'verbose_name_plural': 'series',
            },
        ),
        migrations.AddField(
            model_name='histogram',
            name='role',
            field=models.CharField(blank=True, max_length=24),
        ),
        migrations.AddField(
            model_name='histogram',
            name='device',
            field=models.CharField(blank=True, max_length=160),
        ),
        migrations.AddField(
            model_name='histogram',
            name='time',
            field=models.CharField(blank=True, max_length=20),
        ),
        migrations.AddField(
            model_name='histogram',
            name='edges',
            field=models.CharField(default='act', max_length=10),
        ),
        migrations.AddField(
            model_name='histogram',
            name='is_meaningless',
            field=models.BooleanField(default=False),
        ),
        # The reader has packed the bytes: the server's own compression would cost time and gain nothing.
        migrations.RunSQL(
            'ALTER TABLE results_series ALTER COLUMN packed SET STORAGE EXTERNAL',
            'ALTER TABLE results_series ALTER COLUMN packed SET STORAGE EXTENDED',
        ),
    ]
