"""Products with long slugs have events, labels are standard terms, and attempts name departures as data.

Attempts stored by earlier releases have the departures of runs only in their sentences. They are deleted here: the
register computes them again when the product's page is shown or a run of it changes.
"""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def forget_attempts_with_departures(apps: Apps, _schema_editor: BaseDatabaseSchemaEditor) -> None:
    product_model = apps.get_model("results", "Product")
    for product in product_model.objects.exclude(attempts=None).only("attempts").iterator():
        sentences = [requirement["sentence"] for attempt in product.attempts for requirement in attempt["missing"]]
        if any(" is not what the profile asks: " in sentence for sentence in sentences):
            product_model.objects.filter(pk=product.pk).update(attempts=None)


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0023_run_is_on_no_drive'),
    ]

    operations = [
        migrations.AlterField(
            model_name='event',
            name='subject_id',
            field=models.CharField(max_length=120),
        ),
        migrations.AlterField(
            model_name='finding',
            name='severity',
            field=models.CharField(
                choices=[('decides', 'decisive'), ('look', 'warning'), ('note', 'note')], max_length=10
            ),
        ),
        migrations.AlterField(
            model_name='verdict',
            name='outcome',
            field=models.CharField(
                choices=[('pass', 'passes'), ('fail', 'fails'), ('undecided', 'undecided'), ('void', 'void')],
                max_length=10,
            ),
        ),
        migrations.RunPython(forget_attempts_with_departures, migrations.RunPython.noop),
    ]
