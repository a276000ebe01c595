"""Changes of the runs that tables list, recorded by triggers of the database."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.functions import RandomUUID
from django.db import models


class ListingChange(models.Model):
    """One change of a run that tables list, or of its product, shares, verdicts or annotations.

    The ids of all rows identify the state of the tables: a row of a transaction is visible exactly if the change is. A
    process that knows some of the ids reads the runs of the other rows again (results/lifecycle/listing_changes.py).
    Whoever changes shares, verdicts or annotations of a run locks the run first: the trigger then sees whether tables
    list it.

    `run_id` is no relation, because the run may be deleted. It is null for a change of very many runs, and for a row
    that replaced the rows with the ids `folded`.
    """

    id = models.UUIDField(primary_key=True, db_default=RandomUUID())
    run_id = models.BigIntegerField(null=True)
    folded = ArrayField(models.UUIDField(), default=list, db_default=models.Value([], ArrayField(models.UUIDField())))

    def __str__(self) -> str:
        return f"change of {'several runs' if self.run_id is None else f'run {self.run_id}'}"
