"""Serializers for the history of runs and certificates."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from results.access.history import details_for_everyone, for_everyone, is_by_reviewer
from results.access.redaction import visible_events, visible_verdict
from results.history import displaced_by, event_label, history_of
from results.models import Annotation, Certificate, Event, Run, Verdict
from webapp.api.serializers import RunSerializer


class EventSerializer(serializers.ModelSerializer[Event]):
    """One entry of a history. It names the actor by role only; `details` has the values before and after."""

    what = serializers.SerializerMethodField()
    by = serializers.SerializerMethodField()
    details = serializers.SerializerMethodField()

    class Meta:
        """Fields without names of people."""

        model = Event
        fields = ["at", "kind", "what", "by", "reason", "details"]

    def get_what(self, event: Event) -> str:
        return event_label(event.kind)

    def get_by(self, event: Event) -> str:
        return "reviewer" if is_by_reviewer(event) else "register"

    def get_details(self, event: Event) -> dict[str, Any]:
        return details_for_everyone(event.details)


class AnnotationSerializer(serializers.ModelSerializer[Annotation]):
    """A sentence shown with a run's figures; `created_at` is not before the run was public."""

    created_at = serializers.DateTimeField(source="public_since")

    class Meta:
        """Fields of a current annotation; the history lists retracted ones."""

        model = Annotation
        fields = ["text", "created_at"]


class EarlierVerdictSerializer(serializers.ModelSerializer[Verdict]):
    """A verdict that a newer one replaced. `figures` is the address of all figures at that time, null if unchanged.

    `created_at` is not before the run was public.
    """

    rule_version = serializers.IntegerField(source="profile.rule_version")
    created_at = serializers.DateTimeField(source="public_since")
    figures = serializers.SerializerMethodField()

    class Meta:
        """Newest first."""

        model = Verdict
        fields = ["outcome", "headline", "reader_version", "rule_version", "created_at", "document", "figures"]

    def get_figures(self, verdict: Verdict) -> str | None:
        earlier = getattr(verdict, "earlier_result", None)
        return f"/runs/{earlier.run.public_id}/earlier/{earlier.number}.json" if earlier else None


class RunDetailSerializer(RunSerializer):
    """A run with its lifecycle: replaced runs, annotations, certificates, earlier verdicts, history."""

    supersedes = serializers.SerializerMethodField()
    annotations = serializers.SerializerMethodField()
    certificates = serializers.SlugRelatedField[Certificate](slug_field="public_id", many=True, read_only=True)
    earlier_verdicts = serializers.SerializerMethodField()
    history = serializers.SerializerMethodField()

    class Meta(RunSerializer.Meta):
        """Fields of the list, and the lifecycle."""

        fields = [
            *RunSerializer.Meta.fields, "supersedes", "annotations", "certificates", "earlier_verdicts", "history",
        ]  # fmt: skip

    def get_supersedes(self, run: Run) -> list[str]:
        """Return the public ids that the page also shows: those of runs that were public."""
        return [earlier.public_id for earlier in displaced_by(run)]

    @extend_schema_field(AnnotationSerializer(many=True))
    def get_annotations(self, run: Run) -> Any:
        return AnnotationSerializer(run.annotations.current(), many=True).data

    @extend_schema_field(EarlierVerdictSerializer(many=True))
    def get_earlier_verdicts(self, run: Run) -> Any:
        verdicts = run.verdicts.select_related("profile", "earlier_result__run")[1:]
        return EarlierVerdictSerializer([visible_verdict(run, verdict) for verdict in verdicts], many=True).data

    @extend_schema_field(EventSerializer(many=True))
    def get_history(self, run: Run) -> Any:
        events = for_everyone(history_of(run).filter(subject_type="run"))
        return EventSerializer(visible_events(events), many=True).data
