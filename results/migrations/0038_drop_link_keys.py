from django.db import migrations


class Migration(migrations.Migration):
    """Removes the keys of links, of which 0037 has stored the hashes. A reversal gives each submission a new key."""

    dependencies = [
        ("results", "0037_link_digests"),
    ]

    operations = [
        migrations.RemoveField(model_name="submission", name="link_key"),
    ]
