import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0011_companions'),
    ]

    operations = [
        migrations.CreateModel(
            name='YcsbRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('phase', models.CharField(blank=True, max_length=10)),
                ('workload', models.CharField(blank=True, max_length=200)),
                ('binding', models.CharField(blank=True, max_length=200)),
                ('measurement', models.CharField(blank=True, max_length=40)),
                ('times', models.CharField(blank=True, max_length=20)),
                ('command_line', models.TextField(blank=True)),
                ('properties', models.JSONField(default=list)),
                ('threads_count', models.PositiveIntegerField(null=True)),
                ('target_ops_per_s', models.DecimalField(decimal_places=6, max_digits=20, null=True)),
                ('record_count', models.BigIntegerField(null=True)),
                ('operation_count', models.BigIntegerField(null=True)),
                ('time_limit_s', models.BigIntegerField(null=True)),
                ('runtime_ms', models.DecimalField(decimal_places=6, max_digits=20, null=True)),
                ('throughput_ops_per_s', models.DecimalField(decimal_places=12, max_digits=30, null=True)),
                ('done_ops_count', models.BigIntegerField(null=True)),
                ('failed_ops_count', models.BigIntegerField(null=True)),
                ('validity', models.CharField(choices=[('valid', 'Valid'), ('invalid', 'Invalid'), ('undecided', 'Undecided')], max_length=10)),
                ('reasons', models.JSONField(default=list)),
                ('sweep_key', models.CharField(blank=True, max_length=64)),
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='ycsb', to='results.run')),
            ],
            options={
                'verbose_name': 'YCSB run',
            },
        ),
        migrations.CreateModel(
            name='YcsbOperation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('ordinal', models.PositiveIntegerField()),
                ('name', models.CharField(max_length=160)),
                ('outcome', models.CharField(max_length=40)),
                ('time', models.CharField(max_length=20)),
                ('ops_count', models.BigIntegerField(null=True)),
                ('mean_us', models.FloatField(null=True)),
                ('min_us', models.FloatField(null=True)),
                ('max_us', models.FloatField(null=True)),
                ('p50_us', models.FloatField(null=True)),
                ('p95_us', models.FloatField(null=True)),
                ('p99_us', models.FloatField(null=True)),
                ('p999_us', models.FloatField(null=True)),
                ('p9999_us', models.FloatField(null=True)),
                ('percentiles', models.JSONField(default=list)),
                ('returns', models.JSONField(default=list)),
                ('taken_from', models.CharField(max_length=10)),
                ('ycsb_run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='operations', to='results.ycsbrun')),
            ],
            options={
                'verbose_name': 'YCSB operation',
                'ordering': ['ordinal'],
            },
        ),
        migrations.CreateModel(
            name='YcsbInterval',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('ordinal', models.PositiveIntegerField()),
                ('elapsed_s', models.BigIntegerField()),
                ('done_ops_count', models.BigIntegerField(null=True)),
                ('ops_per_s', models.DecimalField(decimal_places=12, max_digits=30, null=True)),
                ('operations', models.JSONField(default=list)),
                ('ycsb_run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='intervals', to='results.ycsbrun')),
            ],
            options={
                'verbose_name': 'YCSB interval',
                'ordering': ['ordinal'],
            },
        ),
        migrations.AddIndex(
            model_name='ycsbrun',
            index=models.Index(condition=models.Q(('sweep_key', ''), _negated=True), fields=['sweep_key', 'threads_count'], name='ycsb_run_by_sweep'),
        ),
        migrations.AddConstraint(
            model_name='ycsboperation',
            constraint=models.UniqueConstraint(fields=('ycsb_run', 'ordinal'), name='ycsb_operation_unique_in_run'),
        ),
        migrations.AddConstraint(
            model_name='ycsbinterval',
            constraint=models.UniqueConstraint(fields=('ycsb_run', 'ordinal'), name='ycsb_interval_unique_in_run'),
        ),
    ]
