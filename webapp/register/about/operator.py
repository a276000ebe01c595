"""The operator of the register, as the settings state it."""

from dataclasses import dataclass

from django.conf import settings

WEB = ("https://", "http://")


@dataclass(frozen=True)
class Operator:
    """The operator of the register, as the settings state it; missing settings are empty."""

    name: str
    place: str
    contact: str
    funding: str

    @property
    def contact_address(self) -> str:
        """Return the address of a link to the contact; empty if it is neither a web nor a mail address."""
        if self.contact.startswith(WEB):
            return self.contact
        is_mail = "@" in self.contact and not any(each.isspace() for each in self.contact)
        return f"mailto:{self.contact}" if is_mail else ""


def operator() -> Operator:
    """Return the operator of this register."""
    return Operator(
        settings.OPERATOR_NAME, settings.OPERATOR_PLACE, settings.OPERATOR_CONTACT, settings.OPERATOR_FUNDING
    )
