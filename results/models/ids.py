"""Permanent ids and slugs for addresses, assigned once and never changed."""

import hashlib
import secrets
from collections.abc import Container
from itertools import count

from django.utils.text import slugify

ALPHABET = "23456789abcdefghjkmnpqrstvwxyz"  # no 0/o, 1/i/l, u: an id survives being read aloud
ID_CHARS = 8


def new_public_id(prefix: str) -> str:
    """Return a new id such as `r-7kd2m9qp`; 30^8 ids make a clash unlikely, the unique column makes it impossible."""
    return f"{prefix}-" + "".join(secrets.choice(ALPHABET) for _ in range(ID_CHARS))


def derived_id(prefix: str, name: str) -> str:
    """Return the id that follows from a permanent name, such as `p-7kd2m9qp`.

    >>> derived_id("p", "sandisk-dc-sn861-6400gb") == derived_id("p", "sandisk-dc-sn861-6400gb")
    True
    """
    number = int.from_bytes(hashlib.sha256(name.encode()).digest(), "big")
    letters = []
    for _ in range(ID_CHARS):
        number, place = divmod(number, len(ALPHABET))
        letters.append(ALPHABET[place])
    return f"{prefix}-" + "".join(letters)


def new_run_id() -> str:
    """Return a new public id for a run."""
    return new_public_id("r")


def new_submission_id() -> str:
    """Return a new public id for a submission."""
    return new_public_id("s")


def new_draft_id() -> str:
    """Return a new public id for a draft."""
    return new_public_id("d")


def new_request_id() -> str:
    """Return a new public id for a certificate request."""
    return new_public_id("q")


def new_objection_id() -> str:
    """Return a new public id for an objection."""
    return new_public_id("o")


def new_file_key() -> str:
    """Return the secret name of a file that is being uploaded: its address, and its directory in the staging area."""
    return secrets.token_hex(16)


def new_link_key() -> str:
    """Return a secret for the link that opens one unreviewed result."""
    return secrets.token_urlsafe(16)


def hash_link_key(key: str) -> str:
    """Return the SHA-256 under which the key of a link is stored. It has 128 random bits, so no slow hash is needed."""
    return hashlib.sha256(key.encode()).hexdigest()


def new_certificate_id() -> str:
    """Return a new public id for a certificate."""
    return new_public_id("c")


SLUG_CHARS = 110  # of the column's 120: room for a number


def new_product_slug(vendor: str, model: str, capacity_gb: int | None, taken: Container[str]) -> str:
    """Return a slug that is not taken, such as `sandisk-dc-sn861-6400gb`; the second of a name gets a number.

    >>> new_product_slug("AWS", "c5d.24xlarge", None, {"aws-c5d-24xlarge"})
    'aws-c5d-24xlarge-2'
    """
    stem = product_stem(vendor, model, capacity_gb)
    numbered = (f"{stem}-{number}" for number in count(2))
    return stem if stem not in taken else next(slug for slug in numbered if slug not in taken)


def product_stem(vendor: str, model: str, capacity_gb: int | None) -> str:
    """Return the readable part; a full stop separates words (c5d.24xlarge), which slugify alone would swallow."""
    capacity = f" {capacity_gb}gb" if capacity_gb else ""
    return slugify(f"{vendor} {model}{capacity}".replace(".", " "))[:SLUG_CHARS] or "product"
