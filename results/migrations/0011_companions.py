import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0010_series'),
    ]

    operations = [
        migrations.CreateModel(
            name='Companion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('filename', models.CharField(max_length=255)),
                ('role', models.CharField(blank=True, max_length=20)),
                ('evidence', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='companion_of', to='results.evidence')),
                ('submission', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='companions', to='results.submission')),
            ],
            options={
                'ordering': ['filename', 'id'],
            },
        ),
        migrations.AddConstraint(
            model_name='companion',
            constraint=models.UniqueConstraint(fields=('submission', 'evidence', 'filename'), name='companion_unique_in_submission'),
        ),
        migrations.AddField(
            model_name='reading',
            name='members',
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name='run',
            name='member',
            field=models.CharField(blank=True, max_length=500),
        ),
    ]
