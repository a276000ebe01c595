"""Agents of lab hosts and their exchanges, announced to the agents and to the workers that wait for an answer."""

import django.db.models.deletion
import runners.models.agent
from django.conf import settings
from django.db import migrations, models

# The states of an agent's exchanges contain its public id: a notification with it wakes the agent's long poll
# (webapp/live). An answer wakes the one worker that waits for it (runners/hosts/agent.py).
ANNOUNCE = """
CREATE FUNCTION announce_agent_exchange() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('drivecert_changes', public_id) FROM runners_agent WHERE host_id = NEW.host_id;
  RETURN NULL;
END $$;
CREATE TRIGGER agent_exchange_announced AFTER INSERT ON runners_agentexchange
  FOR EACH ROW EXECUTE FUNCTION announce_agent_exchange();

CREATE FUNCTION announce_agent_answer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('drivecert_answer_' || NEW.public_id, '');
  RETURN NULL;
END $$;
CREATE TRIGGER agent_answer_announced AFTER UPDATE OF answered_at ON runners_agentexchange
  FOR EACH ROW EXECUTE FUNCTION announce_agent_answer();

CREATE TRIGGER agent_secret_announced AFTER UPDATE OF secret_hash ON runners_agent
  FOR EACH ROW EXECUTE FUNCTION announce_row();

CREATE FUNCTION announce_agent_program() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('drivecert_changes', public_id) FROM runners_agent WHERE host_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER agent_program_announced AFTER UPDATE OF program_sha256 ON runners_host
  FOR EACH ROW WHEN (OLD.program_sha256 IS DISTINCT FROM NEW.program_sha256)
  EXECUTE FUNCTION announce_agent_program();
"""
STOP = """
DROP TRIGGER agent_program_announced ON runners_host;
DROP FUNCTION announce_agent_program();
DROP TRIGGER agent_secret_announced ON runners_agent;
DROP TRIGGER agent_answer_announced ON runners_agentexchange;
DROP FUNCTION announce_agent_answer();
DROP TRIGGER agent_exchange_announced ON runners_agentexchange;
DROP FUNCTION announce_agent_exchange();
"""


class Migration(migrations.Migration):
    """The tables, and the triggers; `announce_row` is of results."""

    dependencies = [
        ("runners", "0024_announced_changes"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name="host",
            name="kind",
            field=models.CharField(
                choices=[("local", "this machine"), ("ssh", "over SSH"), ("agent", "by its agent")], max_length=10
            ),
        ),
        migrations.CreateModel(
            name="Agent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=runners.models.agent.new_agent_id, max_length=10, unique=True)),
                ("code_hash", models.CharField(blank=True, default="", max_length=64)),
                ("code_expires_at", models.DateTimeField(null=True)),
                ("secret_hash", models.CharField(blank=True, default="", max_length=64)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("joined_at", models.DateTimeField(null=True)),
                ("seen_at", models.DateTimeField(null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
                ("version", models.CharField(blank=True, default="", max_length=40)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="created_agents",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "host",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="agent", to="runners.host"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("code_hash", ""), _negated=True),
                        fields=("code_hash",),
                        name="one_agent_per_code",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("secret_hash", ""), _negated=True),
                        fields=("secret_hash",),
                        name="one_agent_per_secret",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AgentExchange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "public_id",
                    models.CharField(default=runners.models.agent.new_exchange_id, max_length=10, unique=True),
                ),
                ("payload", models.BinaryField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("answer", models.BinaryField(null=True)),
                ("answered_at", models.DateTimeField(null=True)),
                (
                    "host",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="exchanges", to="runners.host"
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("answer__isnull", True), ("answered_at__isnull", True)),
                            models.Q(("answer__isnull", False), ("answered_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="answer_has_its_time",
                    )
                ],
            },
        ),
        migrations.RunSQL(ANNOUNCE, STOP),
    ]
