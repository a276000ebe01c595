"""A submission by the forms, in two steps: the files, and the facts about the drive."""

from results.ingest.queue import sweep

UPLOAD_FIELDS = ("log", "companions", "organisation", "slice_length_s")


def submit_in_two_steps(client, fields, **options):
    """Return the response to the facts, or to the files if these are refused."""
    first = {name: value for name, value in fields.items() if name in UPLOAD_FIELDS}
    answer = client.post("/submit/", first)
    if answer.status_code != 302 or "/accounts/login/" in answer.headers["Location"]:
        return answer
    sweep()
    facts = {name: value for name, value in fields.items() if name not in UPLOAD_FIELDS}
    return client.post(answer.headers["Location"], facts, **options)
