"""Objections to public results with their attachments, and replies to annotations."""

import django.contrib.postgres.fields
import django.db.models.deletion
import results.models.ids
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """Adds objections and the replies to annotations."""

    dependencies = [
        ('results', '0041_takedowns'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Objection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(default=results.models.ids.new_objection_id, max_length=20, unique=True)),
                ('filed_at', models.DateTimeField()),
                ('organisations', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), default=list, size=None)),
                ('text', models.TextField()),
                ('state', models.CharField(choices=[('received', 'waits for a reviewer to admit or refuse it'), ('admission-overdue', 'waits for a reviewer, after the limit'), ('refused', 'refused'), ('withdrawn', 'withdrawn by the person who filed it'), ('admitted', 'admitted; waits for the reply of the submitter'), ('unanswered', 'not replied to in time; waits for the decision of a reviewer'), ('in-decision', 'waits for the decision of a reviewer'), ('decision-overdue', 'waits for the decision of a reviewer, after the limit'), ('upheld', 'upheld'), ('rejected', 'rejected')], default='received', max_length=20)),
                ('state_since', models.DateTimeField()),
                ('deadline', models.DateTimeField(null=True)),
                ('admitted_at', models.DateTimeField(null=True)),
                ('refusal', models.CharField(blank=True, choices=[('no-evidence', 'it names no evidence'), ('other-subject', 'it is not about this result'), ('duplicate', 'another objection states the same'), ('unclear', 'it cannot be understood'), ('unlawful', 'it contains personal data or unlawful content')], max_length=20)),
                ('refusal_note', models.TextField(blank=True)),
                ('reply', models.TextField(blank=True)),
                ('replied_at', models.DateTimeField(null=True)),
                ('outcome', models.CharField(blank=True, choices=[('withdraw', 'a reviewer has to withdraw the result'), ('annotate', 'a reviewer has to annotate the result'), ('correct', 'a reviewer has to correct stated facts of the result'), ('not-shown', 'the evidence does not support it'), ('not-affected', 'the facts are right, but do not affect the result'), ('known', 'the page of the result states it already')], max_length=20)),
                ('outcome_note', models.TextField(blank=True)),
                ('decided_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['filed_at', 'id'],
            },
        ),
        migrations.CreateModel(
            name='ObjectionFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('filename', models.CharField(max_length=255)),
                ('sha256', models.CharField(max_length=64)),
                ('size_bytes', models.BigIntegerField()),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.AddField(
            model_name='annotation',
            name='replied_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='annotation',
            name='replied_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='annotation',
            name='reply',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
        migrations.AddConstraint(
            model_name='annotation',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('replied_at__isnull', True), ('replied_by__isnull', True), ('reply', '')), models.Q(models.Q(('reply', ''), _negated=True), ('replied_at__isnull', False)), _connector='OR'), name='reply_to_annotation_has_a_time'),
        ),
        migrations.AddField(
            model_name='objection',
            name='admitted_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='objection',
            name='decided_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='objection',
            name='filed_by',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='objection',
            name='organisation',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='results.organisation'),
        ),
        migrations.AddField(
            model_name='objection',
            name='refused_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='objection',
            name='replied_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='objection',
            name='run',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='objections', to='results.run'),
        ),
        migrations.AddField(
            model_name='objectionfile',
            name='objection',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='files', to='results.objection'),
        ),
        migrations.AddIndex(
            model_name='objection',
            index=models.Index(condition=models.Q(('deadline__isnull', False)), fields=['deadline'], name='objection_by_deadline'),
        ),
        migrations.AddIndex(
            model_name='objection',
            index=models.Index(fields=['filed_by', 'filed_at'], name='objection_by_filer'),
        ),
        migrations.AddConstraint(
            model_name='objection',
            constraint=models.UniqueConstraint(condition=models.Q(('state__in', ('refused', 'withdrawn', 'upheld', 'rejected')), _negated=True), fields=('run', 'filed_by'), name='one_open_objection_of_a_user_to_a_run'),
        ),
        migrations.AddConstraint(
            model_name='objection',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('admitted_by', models.F('filed_by')), _negated=True), models.Q(('refused_by', models.F('filed_by')), _negated=True), models.Q(('decided_by', models.F('filed_by')), _negated=True)), name='objection_is_not_decided_by_its_filer'),
        ),
        migrations.AddConstraint(
            model_name='objection',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('deadline__isnull', True), ('state__in', ('refused', 'withdrawn', 'upheld', 'rejected'))), models.Q(models.Q(('state__in', ('refused', 'withdrawn', 'upheld', 'rejected')), _negated=True), ('deadline__isnull', False)), _connector='OR'), name='open_objection_has_a_deadline'),
        ),
        migrations.AddConstraint(
            model_name='objection',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('admitted_at__isnull', False), ('admitted_by__isnull', False), ('state__in', ('admitted', 'unanswered', 'in-decision', 'decision-overdue', 'upheld', 'rejected'))), models.Q(models.Q(('state__in', ('admitted', 'unanswered', 'in-decision', 'decision-overdue', 'upheld', 'rejected')), _negated=True), ('admitted_at__isnull', True), ('admitted_by__isnull', True), ('reply', '')), _connector='OR'), name='only_admitted_objections_are_public'),
        ),
        migrations.AddConstraint(
            model_name='objection',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('refused_by__isnull', False), ('state', 'refused'), models.Q(('refusal', ''), _negated=True)), models.Q(models.Q(('state', 'refused'), _negated=True), ('refusal', ''), ('refused_by__isnull', True)), _connector='OR'), name='refused_objection_has_its_reason'),
        ),
        migrations.AddConstraint(
            model_name='objection',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('replied_at__isnull', True), ('replied_by__isnull', True), ('reply', '')), models.Q(models.Q(('reply', ''), _negated=True), ('replied_at__isnull', False), ('replied_by__isnull', False)), _connector='OR'), name='reply_to_objection_has_author_and_time'),
        ),
        migrations.AddConstraint(
            model_name='objection',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('decided_at__isnull', False), ('decided_by__isnull', False), ('state__in', ('upheld', 'rejected')), models.Q(('outcome', ''), _negated=True)), models.Q(models.Q(('state__in', ('upheld', 'rejected')), _negated=True), ('decided_at__isnull', True), ('decided_by__isnull', True), ('outcome', '')), _connector='OR'), name='decided_objection_has_its_outcome'),
        ),
        migrations.AddConstraint(
            model_name='objectionfile',
            constraint=models.UniqueConstraint(fields=('objection', 'sha256'), name='objection_file_once'),
        ),
    ]
