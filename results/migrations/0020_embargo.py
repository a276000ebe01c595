from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0019_lab_record'),
    ]

    operations = [
        migrations.AddField(
            model_name='submission',
            name='embargo_until',
            field=models.DateTimeField(null=True),
        ),
        migrations.AlterField(
            model_name='run',
            name='visibility',
            field=models.CharField(choices=[('unreviewed', 'Unreviewed'), ('embargoed', 'Embargoed'), ('public', 'Public'), ('superseded', 'Superseded'), ('withdrawn', 'Withdrawn')], default='unreviewed', max_length=12),
        ),
        migrations.RemoveConstraint(
            model_name='run',
            name='superseded_names_its_successor',
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(('visibility', 'withdrawn'), models.Q(('superseded_by__isnull', False), ('visibility', 'superseded')), models.Q(('superseded_by__isnull', True), ('visibility__in', ['unreviewed', 'embargoed', 'public'])), _connector='OR'), name='superseded_names_its_successor'),
        ),
    ]
