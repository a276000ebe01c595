"""What the register tells whoever listens, so that this package needs to know nobody above it."""

from django.dispatch import Signal

# Sent after commit with `reading_id`. Only an alarm: a receiver that fails or is not there delays a reading until the
# next sweep.
reading_pending = Signal()
