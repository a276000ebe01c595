"""Certificates, and the drives of a run as they ask for them."""

import django.db.models.deletion
import results.models.ids
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0015_run_supersede_and_annotate'),
    ]

    operations = [
        migrations.AddField(
            model_name='product',
            name='attempts',
            field=models.JSONField(null=True),
        ),
        migrations.CreateModel(
            name='Certificate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(default=results.models.ids.new_certificate_id, max_length=20, unique=True)),
                ('state', models.CharField(choices=[('standing', 'Standing'), ('withdrawn', 'Withdrawn')], default='standing', max_length=10)),
                ('device_count', models.PositiveSmallIntegerField()),
                ('nx_load', models.DecimalField(decimal_places=4, max_digits=14)),
                ('exact_nx', models.CharField(max_length=60)),
                ('firmware', models.CharField(blank=True, max_length=100)),
                ('ground', models.CharField(max_length=64)),
                ('document', models.JSONField()),
                ('issued_at', models.DateTimeField(auto_now_add=True)),
                ('withdrawn_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['-nx_load', '-device_count', 'id'],
            },
        ),
        migrations.CreateModel(
            name='CertificateRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ],
        ),
        migrations.CreateModel(
            name='DriveInRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=300)),
                ('firmware_before', models.CharField(max_length=100, null=True)),
                ('firmware_after', models.CharField(max_length=100, null=True)),
                ('over_provisioning_pct_before', models.DecimalField(decimal_places=2, max_digits=6, null=True)),
                ('over_provisioning_pct_after', models.DecimalField(decimal_places=2, max_digits=6, null=True)),
                ('reset_at_before', models.DateTimeField(null=True)),
                ('reset_at_after', models.DateTimeField(null=True)),
                ('never_reset_before', models.BooleanField(null=True)),
                ('never_reset_after', models.BooleanField(null=True)),
            ],
            options={
                'ordering': ['key'],
            },
        ),
        migrations.CreateModel(
            name='Preparation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('drive_key', models.CharField(max_length=300)),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.AddField(
            model_name='run',
            name='started_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='certificate',
            name='product',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='certificates', to='results.product'),
        ),
        migrations.AddField(
            model_name='certificate',
            name='profile',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='certificates', to='results.profile'),
        ),
        migrations.AddField(
            model_name='certificaterun',
            name='certificate',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='results.certificate'),
        ),
        migrations.AddField(
            model_name='certificaterun',
            name='run',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='results.run'),
        ),
        migrations.AddField(
            model_name='certificate',
            name='runs',
            field=models.ManyToManyField(related_name='certificates', through='results.CertificateRun', to='results.run'),
        ),
        migrations.AddField(
            model_name='driveinrun',
            name='run',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='drives', to='results.run'),
        ),
        migrations.AddField(
            model_name='preparation',
            name='evidence',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='results.evidence'),
        ),
        migrations.AddField(
            model_name='driveinrun',
            name='preparation',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='drives', to='results.preparation'),
        ),
        migrations.AddConstraint(
            model_name='certificaterun',
            constraint=models.UniqueConstraint(fields=('certificate', 'run'), name='run_once_in_certificate'),
        ),
        migrations.AddConstraint(
            model_name='certificate',
            constraint=models.UniqueConstraint(fields=('product', 'ground'), name='one_certificate_per_ground'),
        ),
        migrations.AddConstraint(
            model_name='preparation',
            constraint=models.CheckConstraint(condition=models.Q(('started_at__isnull', True), ('finished_at__isnull', True), ('finished_at__gte', models.F('started_at')), _connector='OR'), name='preparation_ends_after_it_began'),
        ),
        migrations.AddConstraint(
            model_name='driveinrun',
            constraint=models.UniqueConstraint(fields=('run', 'key'), name='drive_unique_in_run'),
        ),
    ]
