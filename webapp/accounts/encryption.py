"""Encryption of secrets that the register must read again, such as those of authenticator apps.

The keys are outside the database (setting ENCRYPTION_KEYS), so that a copy of the database contains no usable secret.
The first key encrypts; all of them decrypt.
"""

from base64 import urlsafe_b64encode
from hashlib import sha256

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class UnknownKeyError(Exception):
    """None of the keys decrypts the text."""


def encrypt(text: str) -> str:
    """Return the text, encrypted with the first key."""
    return _keys().encrypt(text.encode()).decode()


def decrypt(encrypted: str) -> str:
    """Return the text. Raises UnknownKeyError."""
    try:
        return _keys().decrypt(encrypted).decode()
    except InvalidToken as error:
        raise UnknownKeyError("encrypted with a key that ENCRYPTION_KEYS does not have") from error


def _keys() -> MultiFernet:
    """Return the keys. The operator's texts are long and random, so that a plain hash makes keys of them."""
    return MultiFernet([Fernet(urlsafe_b64encode(sha256(key.encode()).digest())) for key in settings.ENCRYPTION_KEYS])
