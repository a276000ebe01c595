"""Lab host pages: add, check, locate and retire a host."""
