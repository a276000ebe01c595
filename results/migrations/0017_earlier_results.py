"""What an earlier reader or rule version said of a run; a row is never changed."""

import django.db.models.deletion
from django.db import migrations, models

REFUSE = """
CREATE TRIGGER earlier_result_immutable BEFORE UPDATE OR DELETE ON results_earlierresult
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
"""
ALLOW = "DROP TRIGGER earlier_result_immutable ON results_earlierresult;"


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0016_certificates'),
    ]

    operations = [
        migrations.CreateModel(
            name='EarlierResult',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('document', models.JSONField()),
                ('replaced_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['number'],
            },
        ),
        migrations.RemoveConstraint(
            model_name='verdict',
            name='one_verdict_per_reader_version',
        ),
        migrations.AddIndex(
            model_name='verdict',
            index=models.Index(fields=['run', '-created_at', '-id'], name='verdict_newest_of_run'),
        ),
        migrations.AddField(
            model_name='earlierresult',
            name='verdict',
            field=models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='earlier_result', to='results.verdict'),
        ),
        migrations.AddField(
            model_name='earlierresult',
            name='reading',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='results.reading'),
        ),
        migrations.AddField(
            model_name='earlierresult',
            name='run',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='earlier_results', to='results.run'),
        ),
        migrations.AddConstraint(
            model_name='earlierresult',
            constraint=models.UniqueConstraint(fields=('run', 'number'), name='earlier_result_number_unique_in_run'),
        ),
        migrations.RunSQL(REFUSE, ALLOW),
    ]
