"""The search page: drives, and the publications, claims, terms and pages of the site."""
