"""Signals that this package sends, so that it does not import the layers above it."""

from django.dispatch import Signal

# Sent after commit with `reading_id`. Only a notification: a receiver that fails or is missing delays a reading until
# the next sweep.
reading_pending = Signal()
