"""Periodic tasks of accounts. Each may run twice, late or never."""

from celery import shared_task

from webapp.accounts.privacy import maintenance


@shared_task(name="accounts.remove_personal_data")
def remove_personal_data() -> None:
    """Remove personal data whose period has passed."""
    maintenance.remove_personal_data()
