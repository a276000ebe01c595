"""The one order in which rows of a log are locked: its readings, its submission, its runs, then their products.

Who takes them in another order and meets somebody who does not is ended by the database.
"""

from results.models import Reading, Run, Submission


def lock_log(submission: Submission) -> None:
    """Lock the readings, the submission and the runs of a log until the caller's transaction ends."""
    list(Reading.objects.select_for_update().filter(evidence=submission.log_id).order_by("pk"))
    Submission.objects.select_for_update().get(pk=submission.pk)
    list(Run.objects.select_for_update().filter(submission=submission).order_by("pk"))
