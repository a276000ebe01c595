"""The ladders of a product: for each threshold its runs by load, with the share over it and the limit."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from results.models import Product, Run, Share
from results.rules.act.ladder import MARKS, LadderRun, LadderShare, Rung, ladders
from webapp.api.serializers import ProductSerializer
from webapp.register.limits.profile import current_limits


class RungSerializer(serializers.Serializer[Any]):
    """One run; `mark` is shown with a figure that is not the worst slice of a stored log."""

    run = serializers.CharField(source="run_id")
    nx_load = serializers.SerializerMethodField()
    device_count = serializers.IntegerField(allow_null=True)
    outcome = serializers.CharField(allow_null=True)
    share_pct = serializers.DecimalField(max_digits=12, decimal_places=9)
    is_within = serializers.BooleanField()
    mark = serializers.CharField(allow_blank=True)

    def get_nx_load(self, rung: Rung) -> str | None:
        """Return N of the Nx load, a decimal; None if it is not known."""
        load = rung.nx_load
        return None if load is None else str(Decimal(load.numerator) / Decimal(load.denominator))


class LadderSerializer(serializers.Serializer[Any]):
    """Rungs by rising load: those of logs, those as published, and those whose load is not known."""

    threshold_us = serializers.IntegerField()
    limit_pct = serializers.DecimalField(max_digits=12, decimal_places=9, allow_null=True, normalize_output=True)
    measured = RungSerializer(many=True)
    as_published = RungSerializer(many=True)
    without_load = RungSerializer(many=True)


class ProductDetailSerializer(ProductSerializer):
    """A product with the ladders of its public ACT storage runs."""

    ladders = serializers.SerializerMethodField()

    class Meta(ProductSerializer.Meta):
        """Fields of the list, and the ladders."""

        fields = [*ProductSerializer.Meta.fields, "ladders"]

    @extend_schema_field(LadderSerializer(many=True))
    def get_ladders(self, product: Product) -> list[dict[str, Any]]:
        """Return a ladder for each threshold of a limit or a run, from current runs on physical devices."""
        runs = Run.objects.listed().on_drives().filter(product=product, workload="act-storage")
        ladder_runs = [_ladder_run(run) for run in runs.prefetch_related("shares", "verdicts")]
        return [dict(row) for row in LadderSerializer(ladders(ladder_runs, current_limits()), many=True).data]


def _ladder_run(run: Run) -> LadderRun:
    verdict = next(iter(run.verdicts.all()), None)
    shares = tuple(_ladder_share(share) for share in run.shares.all() if share.statistic in MARKS)
    nx_load = None if run.nx_load is None else Fraction(run.nx_load)
    return LadderRun(run.public_id, nx_load, run.device_count, verdict.outcome if verdict else None, shares)


def _ladder_share(share: Share) -> LadderShare:
    return LadderShare(share.threshold_us, share.statistic, share.share_pct, share.over_count, share.ops_count)
