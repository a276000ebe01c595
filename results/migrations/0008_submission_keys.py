import django.db.models.deletion
from django.db import migrations, models


def move_keys(apps, schema_editor):
    """Take over the one key that each submission could have."""
    keys = apps.get_model('results', 'SubmissionKey').objects
    for submission in apps.get_model('results', 'Submission').objects.exclude(idempotency_key=''):
        keys.create(
            submission=submission, organisation_id=submission.organisation_id, key=submission.idempotency_key
        )


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0007_reading_pauses'),
    ]

    operations = [
        migrations.CreateModel(
            name='SubmissionKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=200)),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='results.organisation')),
                ('submission', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='keys', to='results.submission')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('organisation', 'key'), name='one_submission_per_key')],
            },
        ),
        migrations.RunPython(move_keys, migrations.RunPython.noop),
    ]
