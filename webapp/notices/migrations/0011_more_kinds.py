"""Kinds of notices about takedowns and objections."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('notices', '0001_notices'),
    ]

    operations = [
        migrations.AlterField(
            model_name='notice',
            name='kind',
            field=models.CharField(choices=[('received', 'received'), ('reading-failed', 'could not be read'), ('read', 'read'), ('awaiting-identity', 'awaiting identity'), ('in-review', 'in review'), ('question', 'question of a reviewer'), ('answered', 'question answered'), ('declined', 'declined'), ('embargoed', 'under embargo'), ('published', 'published'), ('withdrawn', 'withdrawn'), ('sequestered', 'withheld'), ('released', 'no longer withheld'), ('takedown-waits', 'waits for confirmation'), ('superseded', 'superseded'), ('reinstated', 'public again'), ('recalled', 'returned to review'), ('deadline-near', 'deadline is near'), ('deadline-passed', 'deadline has passed'), ('organisation-confirmed', 'confirmed'), ('organisation-waits', 'waits for confirmation')], max_length=30),
        ),
    ]
