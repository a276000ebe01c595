"""Short permanent ids for pages: random, so that nobody can count or guess what is not yet public."""

import secrets

ALPHABET = "23456789abcdefghjkmnpqrstvwxyz"  # no 0/o, 1/i/l, u: an id survives being read aloud


def new_public_id(prefix: str) -> str:
    """Return a new id such as `r-7kd2m9qp`; 30^8 ids make a clash unlikely, the unique column makes it impossible."""
    return f"{prefix}-" + "".join(secrets.choice(ALPHABET) for _ in range(8))


def new_run_id() -> str:
    """Return a new public id for a run."""
    return new_public_id("r")


def new_submission_id() -> str:
    """Return a new public id for a submission."""
    return new_public_id("s")


def new_link_key() -> str:
    """Return a secret that opens one unreviewed result to whoever holds the link."""
    return secrets.token_urlsafe(16)


def new_certificate_id() -> str:
    """Return a new public id for a certificate."""
    return new_public_id("c")
