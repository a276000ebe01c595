"""What decides a verdict besides shares is in its document already: the database reckons the column, for every row."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0021_region_and_zone'),
    ]

    operations = [
        migrations.AddField(
            model_name='verdict',
            name='is_decided_by_limits',
            field=models.GeneratedField(
                db_persist=True,
                expression=models.ExpressionWrapper(
                    models.Q(('outcome', 'pass'), models.Q(('document__reasons', []), ('outcome', 'fail')), _connector='OR'),
                    output_field=models.BooleanField(),
                ),
                output_field=models.BooleanField(),
            ),
        ),
    ]
