"""Add the kind of the notice about damaged stored files."""


from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('notices', '0016_takedown_reminder_kind'),
    ]

    operations = [
        migrations.AlterField(
            model_name='notice',
            name='kind',
            field=models.CharField(choices=[('received', 'received'), ('reading-failed', 'could not be read'), ('read', 'read'), ('awaiting-identity', 'awaiting identity'), ('in-review', 'in review'), ('question', 'question of a reviewer'), ('answered', 'question answered'), ('declined', 'declined'), ('embargoed', 'under embargo'), ('embargo-changed', 'embargo changed'), ('published', 'published'), ('withdrawn', 'withdrawn'), ('sequestered', 'withheld'), ('released', 'no longer withheld'), ('takedown-waits', 'waits for confirmation'), ('takedown-deadline-near', 'deadline is near'), ('file-hidden', 'file hidden'), ('file-shown', 'file no longer hidden'), ('superseded', 'superseded'), ('reinstated', 'public again'), ('recalled', 'returned to review'), ('deadline-near', 'deadline is near'), ('deadline-passed', 'deadline has passed'), ('annotated', 'annotated'), ('annotation-replied', 'annotation replied to'), ('objection-received', 'received'), ('objection-refused', 'refused'), ('objection-withdrawn', 'withdrawn'), ('objection-admitted', 'admitted'), ('objection-replied', 'replied to'), ('objection-waits', 'waits for a decision'), ('objection-deadline-near', 'deadline is near'), ('objection-overdue', 'limit has passed'), ('objection-upheld', 'upheld'), ('objection-rejected', 'rejected'), ('scrub-faults', 'stored files are damaged'), ('organisation-confirmed', 'confirmed'), ('organisation-waits', 'waits for confirmation'), ('member-joined', 'new member'), ('member-left', 'member left'), ('tokens-to-replace', 'machine tokens to replace'), ('invitation-declined', 'invitation declined'), ('ownership-transferred', 'ownership transferred')], max_length=30),
        ),
    ]
