"""An index for the newest dispatches, which the pages of the lab list first."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Adds an index. Changes of dispatches wait while it is built; reading does not."""

    dependencies = [("runners", "0027_announced_history")]
    operations = [
        migrations.AddIndex(
            model_name="dispatch",
            index=models.Index(fields=["-ordered_at", "-id"], name="dispatch_newest"),
        ),
    ]
