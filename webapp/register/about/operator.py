"""The operator of the register, as the settings state it."""

from dataclasses import dataclass

from django.conf import settings

WEB = ("https://", "http://")
# What readers need to judge a register, in the words of a sentence, and the setting that states it.
EXPECTED = {
    "who runs it": "OPERATOR_NAME",
    "a contact": "OPERATOR_CONTACT",
    "who pays for it": "OPERATOR_FUNDING",
    "its conflicts of interest": "OPERATOR_INTERESTS",
}


@dataclass(frozen=True)
class Operator:
    """The operator of the register, as the settings state it; missing settings are empty."""

    name: str
    place: str
    contact: str
    funding: str
    interests: str

    @property
    def unstated(self) -> list[str]:
        """Return what the operator has not stated, in the words of a sentence."""
        return [words for words, setting in EXPECTED.items() if not getattr(settings, setting)]

    @property
    def unstated_sentence(self) -> str:
        """Return what the operator has not stated as a sentence; empty if everything is stated."""
        if not self.unstated:
            return ""
        *others, last = self.unstated
        return (
            f"The operator of this installation has not stated {' or '.join(filter(None, (', '.join(others), last)))}."
        )

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
        settings.OPERATOR_NAME,
        settings.OPERATOR_PLACE,
        settings.OPERATOR_CONTACT,
        settings.OPERATOR_FUNDING,
        settings.OPERATOR_INTERESTS,
    )
