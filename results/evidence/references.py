"""The rows that refer to stored bytes: every hash that a backup must contain, and who is affected if it is missing."""

from collections.abc import Sequence

from django.db import connection

from results.models import Companion, Evidence, ObjectionFile, Submission

# Files of drafts are not evidence (docs/decisions/0021): their bytes are in the staging area.
REFERRING = (Evidence, ObjectionFile)


def references_query() -> str:
    """Return the query for hash and size of all bytes that rows refer to, each hash once, in the order of the hashes.

    It is text, because a backup runs it in a session of its own, at the snapshot of its dump.
    """
    quote = connection.ops.quote_name
    tables = " UNION ALL ".join(f"SELECT sha256, size_bytes FROM {quote(each._meta.db_table)}" for each in REFERRING)  # noqa: S608 - names of own tables
    return f"SELECT sha256, max(size_bytes) FROM ({tables}) AS referring GROUP BY sha256 ORDER BY sha256"  # noqa: S608


def users_of(sha256: str) -> Sequence[str]:
    """Return the public ids of the submissions and objections that need these bytes, or else the names of the files."""
    files = Evidence.objects.filter(sha256=sha256)
    submissions = {
        *Submission.objects.filter(log__in=files).values_list("public_id", flat=True),
        *Submission.objects.filter(side_file__in=files).values_list("public_id", flat=True),
        *Companion.objects.filter(evidence__in=files).values_list("submission__public_id", flat=True),
    }
    objections = ObjectionFile.objects.filter(sha256=sha256).values_list("objection__public_id", flat=True)
    return sorted({*submissions, *objections}) or sorted({str(each) for each in files})
