"""Files that are hidden on request of their sender."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0042_objections'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='evidence',
            name='hidden',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.CreateModel(
            name='HiddenFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.CharField(choices=[('personal-data', 'personal data'), ('confidential', 'confidential content'), ('wrong-file', 'wrong file')], max_length=20)),
                ('note', models.TextField(blank=True)),
                ('requested_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(null=True)),
                ('end_reason', models.TextField(blank=True)),
                ('ended_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('evidence', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='hidings', to='results.evidence')),
                ('requested_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('submission', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='hidings', to='results.submission')),
            ],
            options={
                'ordering': ['-requested_at', '-id'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('ended_at__isnull', True)), fields=('evidence',), name='file_hidden_once'), models.CheckConstraint(condition=models.Q(models.Q(('end_reason', ''), ('ended_at__isnull', True), ('ended_by__isnull', True)), models.Q(('ended_at__isnull', False), ('ended_by__isnull', False), models.Q(('end_reason', ''), _negated=True)), _connector='OR'), name='end_of_hiding_has_operator_and_reason')],
            },
        ),
    ]
