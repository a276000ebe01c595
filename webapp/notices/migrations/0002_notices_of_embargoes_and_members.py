"""Kinds of notices: a changed embargo, and changes of the members of an organisation."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """The new values among the choices of `kind`; rows and the column stay as they are."""

    dependencies = [("notices", "0001_notices")]

    operations = [
        migrations.AlterField(
            model_name="notice",
            name="kind",
            field=models.CharField(
                choices=[
                    ("received", "received"),
                    ("reading-failed", "could not be read"),
                    ("read", "read"),
                    ("awaiting-identity", "awaiting identity"),
                    ("in-review", "in review"),
                    ("question", "question of a reviewer"),
                    ("answered", "question answered"),
                    ("declined", "declined"),
                    ("embargoed", "under embargo"),
                    ("embargo-changed", "embargo changed"),
                    ("published", "published"),
                    ("withdrawn", "withdrawn"),
                    ("superseded", "superseded"),
                    ("reinstated", "public again"),
                    ("recalled", "returned to review"),
                    ("deadline-near", "deadline is near"),
                    ("deadline-passed", "deadline has passed"),
                    ("organisation-confirmed", "confirmed"),
                    ("organisation-waits", "waits for confirmation"),
                    ("member-joined", "new member"),
                    ("member-left", "member left"),
                    ("ownership-transferred", "ownership transferred"),
                ],
                max_length=30,
            ),
        )
    ]
