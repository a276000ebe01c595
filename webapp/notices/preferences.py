"""How often a user gets mail: the choice, and the signed link in each mail that changes it without a sign-in.

The link is not stored. It is signed for the user and their address, so that it ends with the address.
"""

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.urls import reverse

from webapp.accounts.models import User
from webapp.notices.models import Frequency, MailPreference


def preference_link(user: User, address: str) -> str:
    """Return the link for mails to a user."""
    signature = _signer().sign(_value(user.pk, address)).rpartition(":")[2]
    return f"{settings.PUBLIC_URL}{reverse('mail-choice', args=[user.pk, signature])}"


def user_of_link(user_id: int, signature: str) -> User | None:
    """Return the user of a link; None if the link is wrong, or if their address has changed since."""
    address = EmailAddress.objects.filter(user=user_id, verified=True, primary=True).first()
    if address is None:
        return None
    try:
        _signer().unsign(f"{_value(user_id, address.email)}:{signature}")
    except BadSignature:
        return None
    return User.objects.filter(pk=user_id, is_active=True).first()


def set_frequency(user: User, frequency: Frequency) -> None:
    """Store how often a user wants mail."""
    MailPreference.objects.update_or_create(user=user, defaults={"frequency": frequency})


def _value(user_id: int, address: str) -> str:
    return f"{user_id} {address}"


def _signer() -> Signer:
    """Return the signer with the current keys of the settings."""
    return Signer(salt="webapp.notices.preferences")
