"""The states of a dispatch: its stages, and the only code that changes a state."""
