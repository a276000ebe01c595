"""Authentication by user name or mail address, with the facts that decide which pages a user reaches."""

from typing import Any

from allauth.account import auth_backends
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib.auth.base_user import AbstractBaseUser
from django.db.models import Exists, OuterRef

from webapp.accounts.models import User

SECOND_FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)  # recovery codes only replace one of these


class AuthenticationBackend(auth_backends.AuthenticationBackend):
    """The backend of django-allauth, for users with the facts that required_steps needs."""

    def get_user(self, user_id: Any) -> User | None:
        """Return the user of a session, in one query; None for a closed account."""
        addresses = EmailAddress.objects.filter(user=OuterRef("pk"), verified=True)
        factors = Authenticator.objects.filter(user=OuterRef("pk"), type__in=SECOND_FACTORS)
        users = User.objects.annotate(has_verified_address=Exists(addresses), has_second_factor=Exists(factors))  # type: ignore[no-redef]
        user = users.filter(pk=user_id).first()
        return user if user is not None and self.user_can_authenticate(user) else None

    def _authenticate_by_username(self, username: str, password: str) -> AbstractBaseUser | None:
        """Prefer the exact user name: allauth ignores case, so that neither `Bob` nor `bob` could sign in."""
        user: AbstractBaseUser | None = User.objects.filter(username=username).first()
        if user is not None:
            user = self._check_password(user, password)
        else:
            user = super()._authenticate_by_username(username, password)
        return user
