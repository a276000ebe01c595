from django.db import migrations


def end_sessions(apps, schema_editor):
    """Delete the sessions of earlier releases: their keys are stored as the cookies have them."""
    apps.get_model('sessions', 'Session').objects.all().delete()


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0002_memberships_and_tokens'),
        ('sessions', '0001_initial'),
    ]

    operations = [
        migrations.RunPython(end_sessions, migrations.RunPython.noop),
    ]
