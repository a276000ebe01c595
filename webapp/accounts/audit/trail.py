"""The entries of the audit trail. Each change of an account, a membership or a token records one."""

from dataclasses import dataclass

from django.http import HttpRequest

from results.models import Organisation
from webapp.access_limits.client_address import UNKNOWN, client_address
from webapp.accounts.models import AccountEvent, User

Kind = AccountEvent.Kind


@dataclass(frozen=True)
class Actor:
    """The person who acts, and the address of their client. Both are None for a command on the server."""

    user: User | None = None
    address: str | None = None

    @property
    def person(self) -> User:
        """Return the person. Raises TypeError for a command: some changes need a person."""
        if self.user is None:
            raise TypeError("expected a signed-in person, found a command or an anonymous client")
        return self.user


COMMAND = Actor()


def actor_of(request: HttpRequest) -> Actor:
    """Return the actor of a request; without a sign-in, only its address is known."""
    address = client_address(request)
    user = getattr(request, "user", None)  # a SimpleLazyObject, which isinstance sees through
    return Actor(user if isinstance(user, User) else None, None if address == UNKNOWN else address)


def record(
    kind: AccountEvent.Kind,
    actor: Actor,
    subject: User | None = None,
    organisation: Organisation | None = None,
    **details: object,
) -> AccountEvent:
    """Add an entry. `details` holds codes and ids, never a name or a mail address: an entry cannot be changed."""
    return AccountEvent.objects.create(
        kind=kind,
        actor=actor.user,
        subject=subject,
        organisation=organisation,
        address=actor.address,
        details=details,
    )
