"""Tags about mail, for the account page."""

from django import template

from webapp.accounts.models import User
from webapp.notices.models import Frequency, Mail, frequency_of

register = template.Library()


@register.inclusion_tag("notices/buttons.html", takes_context=True)
def frequency_buttons(context: template.Context, user: User, address: str = "") -> dict[str, object]:
    """Show a button for each frequency but the current one. `address` is the page that changes it."""
    current = frequency_of(user.pk)
    others = [frequency for frequency in Frequency if frequency != current]
    return {"others": others, "address": address, "csrf_token": context.get("csrf_token")}


@register.filter
def mail_frequency(user: User) -> str:
    """Return how often a user gets mail, in words."""
    return frequency_of(user.pk).label


@register.simple_tag
def undelivered_count() -> int:
    """Return the number of mails that failed."""
    return Mail.objects.filter(state=Mail.State.FAILED).count()
