"""Memberships that ended, which a trigger stores."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


CREATE = """
CREATE FUNCTION store_former_membership() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO accounts_formermembership (user_id, organisation_id, joined_at, left_at)
    VALUES (OLD.user_id, OLD.organisation_id, least(OLD.joined_at, statement_timestamp()), statement_timestamp());
    RETURN NULL;
END $$;
CREATE TRIGGER ended_membership_is_stored AFTER DELETE OR UPDATE OF user_id, organisation_id ON accounts_membership
    FOR EACH ROW EXECUTE FUNCTION store_former_membership();
"""
DROP = """
DROP TRIGGER ended_membership_is_stored ON accounts_membership;
DROP FUNCTION store_former_membership();
"""


class Migration(migrations.Migration):

    dependencies = [
        ("accounts", "0006_audit_trail_append_only"),
        ('results', '0028_confirmed_organisations'),
    ]

    operations = [
        migrations.CreateModel(
            name='FormerMembership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('joined_at', models.DateTimeField()),
                ('left_at', models.DateTimeField()),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='results.organisation')),
                ('user', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('left_at__gte', models.F('joined_at'))), name='membership_ends_after_it_began')],
            },
        ),
        migrations.RunSQL(CREATE, DROP),
    ]
