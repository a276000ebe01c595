"""A run is superseded by another one; annotations stand beside its figures."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0014_share_by_exact_value'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Annotation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text', models.TextField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('retracted_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['created_at', 'id'],
            },
        ),
        migrations.AddField(
            model_name='run',
            name='superseded_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='supersedes', to='results.run'),
        ),
        migrations.AlterField(
            model_name='run',
            name='visibility',
            field=models.CharField(choices=[('unreviewed', 'Unreviewed'), ('public', 'Public'), ('superseded', 'Superseded'), ('withdrawn', 'Withdrawn')], default='unreviewed', max_length=12),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(('visibility', 'withdrawn'), models.Q(('superseded_by__isnull', False), ('visibility', 'superseded')), models.Q(('superseded_by__isnull', True), ('visibility__in', ['unreviewed', 'public'])), _connector='OR'), name='superseded_names_its_successor'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(('superseded_by', models.F('id')), _negated=True), name='run_supersedes_another'),
        ),
        migrations.AddField(
            model_name='annotation',
            name='author',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='annotation',
            name='run',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='annotations', to='results.run'),
        ),
        migrations.AddConstraint(
            model_name='annotation',
            constraint=models.UniqueConstraint(condition=models.Q(('retracted_at__isnull', True)), fields=('run', 'text'), name='annotation_stands_once'),
        ),
    ]
