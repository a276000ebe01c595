"""Drafts: upload, preview and submission of logs, and certificate requests for several of them."""
