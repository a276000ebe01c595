"""Add the passes of the scrub of the stored files, and the faults that they find."""


from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0048_announced_changes'),
    ]

    operations = [
        migrations.CreateModel(
            name='Scrub',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('started_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(null=True)),
                ('cursor', models.CharField(blank=True, default='', max_length=64)),
                ('files_count', models.BigIntegerField(default=0)),
                ('bytes_count', models.BigIntegerField(default=0)),
                ('unreferenced_count', models.BigIntegerField(default=0)),
            ],
            options={
                'ordering': ['-started_at', '-id'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('ended_at__isnull', True)), fields=('ended_at',), name='one_current_scrub', nulls_distinct=False)],
            },
        ),
        migrations.CreateModel(
            name='ScrubFault',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sha256', models.CharField(max_length=64)),
                ('size_bytes', models.BigIntegerField()),
                ('kind', models.CharField(choices=[('missing', 'missing'), ('shorter', 'shorter than stored'), ('altered', 'altered'), ('unreadable', 'cannot be read')], max_length=12)),
                ('found_bytes', models.BigIntegerField(null=True)),
                ('first_seen_at', models.DateTimeField()),
                ('last_seen_at', models.DateTimeField()),
                ('announced_at', models.DateTimeField(null=True)),
                ('closed_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['first_seen_at', 'sha256'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('closed_at__isnull', True)), fields=('sha256',), name='one_open_fault_of_a_file')],
            },
        ),
    ]
