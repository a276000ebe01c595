"""Stages of a dispatch, and how a drive stood before and after it: both append-only, which the database itself holds to."""

import django.db.models.deletion
from django.db import migrations, models

REFUSE = """
CREATE TRIGGER stage_end_append_only BEFORE UPDATE OR DELETE ON runners_stageend
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER drive_state_append_only BEFORE UPDATE OR DELETE ON runners_drivestate
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
"""
ALLOW = """
DROP TRIGGER stage_end_append_only ON runners_stageend;
DROP TRIGGER drive_state_append_only ON runners_drivestate;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0019_lab_record'),
        ('runners', '0006_host_over_ssh'),
    ]

    operations = [
        migrations.AddField(
            model_name='dispatch',
            name='load_host',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runners.host'),
        ),
        migrations.AddField(
            model_name='dispatch',
            name='preparation',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='dispatches', to='results.preparation'),
        ),
        migrations.AddField(
            model_name='dispatch',
            name='resets_drive_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='dispatch',
            name='stage',
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
        migrations.AlterField(
            model_name='dispatch',
            name='duration_s',
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AlterField(
            model_name='dispatch',
            name='nx_load',
            field=models.DecimalField(decimal_places=4, max_digits=14, null=True),
        ),
        migrations.CreateModel(
            name='DriveState',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('moment', models.CharField(choices=[('before', 'Before'), ('after', 'After')], max_length=6)),
                ('drive_key', models.CharField(db_index=True, max_length=255)),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('firmware', models.CharField(max_length=100, null=True)),
                ('size_bytes', models.BigIntegerField(null=True)),
                ('over_provisioning_pct', models.DecimalField(decimal_places=2, max_digits=6, null=True)),
                ('temperature_c', models.SmallIntegerField(null=True)),
                ('wear_pct', models.PositiveSmallIntegerField(null=True)),
                ('throttled_s', models.BigIntegerField(null=True)),
                ('boot_id', models.CharField(max_length=40, null=True)),
                ('discards_count', models.BigIntegerField(null=True)),
                ('document', models.JSONField(default=dict)),
                ('reason', models.TextField(blank=True)),
                ('dispatch', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='drive_states', to='runners.dispatch')),
            ],
            options={
                'ordering': ['at', 'id'],
                'constraints': [models.UniqueConstraint(fields=('dispatch', 'moment'), name='drive_state_once_a_moment')],
            },
        ),
        migrations.CreateModel(
            name='StageEnd',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('ordinal', models.PositiveSmallIntegerField()),
                ('name', models.CharField(max_length=40)),
                ('exit_status', models.SmallIntegerField(null=True)),
                ('reason', models.TextField(blank=True)),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('dispatch', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='stage_ends', to='runners.dispatch')),
            ],
            options={
                'ordering': ['ordinal'],
                'constraints': [models.UniqueConstraint(fields=('dispatch', 'ordinal'), name='stage_ends_once')],
            },
        ),
        migrations.RunSQL(REFUSE, ALLOW),
    ]
