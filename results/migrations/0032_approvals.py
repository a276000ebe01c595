"""Approvals of the steps that make a result public, and the organisations of makers."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.text
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("results", "0031_certificate_requests"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='run',
            name='predates_approvals',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.CreateModel(
            name='Approval',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('step', models.CharField(choices=[('publish', 'Publish'), ('embargo', 'Embargo'), ('supersede', 'Supersede'), ('unsupersede', 'Unsupersede'), ('reinstate', 'Reinstate')], max_length=12)),
                ('organisations', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), default=list, size=None)),
                ('organisations_at_submission', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), default=list, size=None)),
                ('barred_organisations', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), default=list, size=None)),
                ('reviews_needed', models.PositiveSmallIntegerField()),
                ('note', models.TextField(blank=True)),
                ('approved_at', models.DateTimeField(auto_now_add=True)),
                ('carried_out_at', models.DateTimeField(null=True)),
                ('voided_at', models.DateTimeField(null=True)),
                ('void_reason', models.CharField(blank=True, choices=[('re-evaluated', 'the reading or the verdict changed'), ('slices-changed', 'the slice length changed'), ('corrected', 'a stated fact was corrected'), ('another-product', 'another product was assigned'), ('recalled', 'the run was returned to review'), ('declined', 'a reviewer declined the submission'), ('withdrawn', 'the run was withdrawn'), ('retracted', 'its reviewer took it back')], max_length=20)),
                ('reading', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='results.reading')),
                ('reviewer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='approvals', to='results.run')),
                ('successor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='results.run')),
                ('verdict', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='results.verdict')),
            ],
            options={
                'ordering': ['approved_at', 'id'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('organisations__overlap', models.F('barred_organisations')), _negated=True), models.Q(('organisations_at_submission__overlap', models.F('barred_organisations')), _negated=True)), name='approver_is_independent'), models.CheckConstraint(condition=models.Q(('reviews_needed__in', [1, 2])), name='one_or_two_reviews_needed'), models.CheckConstraint(condition=models.Q(models.Q(('void_reason', ''), ('voided_at__isnull', True)), models.Q(('void_reason__in', ['re-evaluated', 'slices-changed', 'corrected', 'another-product', 'recalled', 'declined', 'withdrawn', 'retracted']), ('voided_at__isnull', False)), _connector='OR'), name='void_approval_has_its_reason'), models.CheckConstraint(condition=models.Q(models.Q(('step', 'supersede'), ('successor__isnull', False)), models.Q(models.Q(('step', 'supersede'), _negated=True), ('successor__isnull', True)), _connector='OR'), name='only_supersede_has_a_successor'), models.UniqueConstraint(condition=models.Q(('carried_out_at__isnull', True), ('voided_at__isnull', True)), fields=('run', 'step', 'reviewer'), name='one_open_approval_per_reviewer')],
            },
        ),
        migrations.CreateModel(
            name='Maker',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('spelling', models.CharField(max_length=200)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='spellings', to='results.organisation')),
            ],
            options={
                'ordering': ['spelling', 'id'],
                'constraints': [models.UniqueConstraint(django.db.models.functions.text.Lower('spelling'), models.F('organisation'), name='one_maker_per_spelling')],
            },
        ),
    ]
