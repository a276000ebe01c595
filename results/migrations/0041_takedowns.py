"""Takedowns of public results, and the state \"sequestered\" of a run."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


BEFORE = """
CREATE OR REPLACE FUNCTION refuse_unapproved_run() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changed results_run;
    steps text[] := '{publish,embargo}';
    since timestamptz := CURRENT_TIMESTAMP;
BEGIN
    SELECT * INTO changed FROM results_run WHERE id = NEW.id;
    IF NOT FOUND OR NOT needs_approvals(changed) OR NOT needs_approvals(NEW) THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'UPDATE' AND OLD.visibility IN ('embargoed') THEN
        since := NULL;
    ELSIF TG_OP = 'UPDATE' AND OLD.visibility IN ('withdrawn') THEN
        steps := '{reinstate}';
    ELSIF TG_OP = 'UPDATE' AND OLD.visibility IN ('superseded') AND NEW.visibility IN ('public') THEN
        steps := '{unsupersede}';
    ELSIF TG_OP = 'UPDATE' AND OLD.visibility IN ('public') AND NEW.visibility IN ('superseded') THEN
        steps := '{supersede}';
    END IF;
    IF changed.predates_approvals AND 'publish' = ANY (steps) THEN
        RETURN NULL;
    END IF;
    IF NOT has_approvals(changed.id, steps, since) THEN
        RAISE EXCEPTION 'run % is %: expected enough approvals of its reading and verdict for one of %, found too few',
            changed.public_id, changed.visibility, steps USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$;
"""
# A run that returns from a takedown has the approvals of its publication or reinstatement.
NOW = """
CREATE OR REPLACE FUNCTION refuse_unapproved_run() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changed results_run;
    steps text[] := '{publish,embargo}';
    since timestamptz := CURRENT_TIMESTAMP;
BEGIN
    SELECT * INTO changed FROM results_run WHERE id = NEW.id;
    IF NOT FOUND OR NOT needs_approvals(changed) OR NOT needs_approvals(NEW) THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'UPDATE' AND OLD.visibility IN ('embargoed') THEN
        since := NULL;
    ELSIF TG_OP = 'UPDATE' AND OLD.visibility IN ('sequestered') THEN
        steps := '{publish,embargo,reinstate}';
        since := NULL;
    ELSIF TG_OP = 'UPDATE' AND OLD.visibility IN ('withdrawn') THEN
        steps := '{reinstate}';
    ELSIF TG_OP = 'UPDATE' AND OLD.visibility IN ('superseded') AND NEW.visibility IN ('public') THEN
        steps := '{unsupersede}';
    ELSIF TG_OP = 'UPDATE' AND OLD.visibility IN ('public') AND NEW.visibility IN ('superseded') THEN
        steps := '{supersede}';
    END IF;
    IF changed.predates_approvals AND 'publish' = ANY (steps) THEN
        RETURN NULL;
    END IF;
    IF NOT has_approvals(changed.id, steps, since) THEN
        RAISE EXCEPTION 'run % is %: expected enough approvals of its reading and verdict for one of %, found too few',
            changed.public_id, changed.visibility, steps USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0061_review_claims'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Takedown',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('before', models.CharField(choices=[('unreviewed', 'Unreviewed'), ('embargoed', 'Embargoed'), ('public', 'Public'), ('superseded', 'Superseded'), ('withdrawn', 'Withdrawn'), ('retracted', 'Retracted'), ('sequestered', 'Sequestered')], max_length=12)),
                ('ground', models.CharField(choices=[('court-order', 'a court order'), ('legal-claim', 'a legal claim of a third party'), ('personal-data', 'personal data in the result')], max_length=20)),
                ('note', models.TextField(blank=True)),
                ('requested_at', models.DateTimeField()),
                ('lapses_at', models.DateTimeField()),
                ('confirmed_at', models.DateTimeField(null=True)),
                ('end', models.CharField(blank=True, choices=[('lapsed', 'no second operator confirmed the takedown in time'), ('released', 'an operator ended the takedown')], max_length=10)),
                ('ended_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['-requested_at', '-id'],
            },
        ),
        migrations.RemoveConstraint(
            model_name='run',
            name='superseded_names_its_successor',
        ),
        migrations.AlterField(
            model_name='run',
            name='visibility',
            field=models.CharField(choices=[('unreviewed', 'Unreviewed'), ('embargoed', 'Embargoed'), ('public', 'Public'), ('superseded', 'Superseded'), ('withdrawn', 'Withdrawn'), ('retracted', 'Retracted'), ('sequestered', 'Sequestered')], default='unreviewed', max_length=12),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(('visibility__in', ['withdrawn', 'sequestered']), models.Q(('superseded_by__isnull', False), ('visibility', 'superseded')), models.Q(('superseded_by__isnull', True), ('visibility__in', ['unreviewed', 'embargoed', 'public', 'retracted'])), _connector='OR'), name='superseded_names_its_successor'),
        ),
        migrations.AddField(
            model_name='takedown',
            name='confirmed_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='takedown',
            name='ended_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='takedown',
            name='requested_by',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='takedown',
            name='run',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='takedowns', to='results.run'),
        ),
        migrations.AddConstraint(
            model_name='takedown',
            constraint=models.UniqueConstraint(condition=models.Q(('ended_at__isnull', True)), fields=('run',), name='one_takedown_of_a_run'),
        ),
        migrations.AddConstraint(
            model_name='takedown',
            constraint=models.CheckConstraint(condition=models.Q(('confirmed_by', models.F('requested_by')), _negated=True), name='takedown_has_two_operators'),
        ),
        migrations.AddConstraint(
            model_name='takedown',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('confirmed_at__isnull', True), ('confirmed_by__isnull', True)), models.Q(('confirmed_at__lt', models.F('lapses_at')), ('confirmed_by__isnull', False)), _connector='OR'), name='takedown_confirmed_before_it_lapses'),
        ),
        migrations.AddConstraint(
            model_name='takedown',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('end', ''), ('ended_at__isnull', True)), models.Q(('end__in', ['lapsed', 'released']), ('ended_at__isnull', False)), _connector='OR'), name='ended_takedown_has_its_reason'),
        ),
        migrations.RunSQL(NOW, BEFORE),
    ]
