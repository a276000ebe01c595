"""Kinds of notices about takedowns."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('notices', '0002_notices_of_embargoes_and_members'),
    ]

    operations = [
        migrations.AlterField(
            model_name='notice',
            name='kind',
            field=models.CharField(choices=[('received', 'received'), ('reading-failed', 'could not be read'), ('read', 'read'), ('awaiting-identity', 'awaiting identity'), ('in-review', 'in review'), ('question', 'question of a reviewer'), ('answered', 'question answered'), ('declined', 'declined'), ('embargoed', 'under embargo'), ('embargo-changed', 'embargo changed'), ('published', 'published'), ('withdrawn', 'withdrawn'), ('sequestered', 'withheld'), ('released', 'no longer withheld'), ('takedown-waits', 'waits for confirmation'), ('superseded', 'superseded'), ('reinstated', 'public again'), ('recalled', 'returned to review'), ('deadline-near', 'deadline is near'), ('deadline-passed', 'deadline has passed'), ('organisation-confirmed', 'confirmed'), ('organisation-waits', 'waits for confirmation'), ('member-joined', 'new member'), ('member-left', 'member left'), ('ownership-transferred', 'ownership transferred')], max_length=30),
        ),
    ]
