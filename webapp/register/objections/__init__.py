"""Public pages of objections: the list with its counts, and the page of one objection."""
