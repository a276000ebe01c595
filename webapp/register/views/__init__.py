"""The views of the public pages."""
