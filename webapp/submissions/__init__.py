"""The upload form, a submission's page, the review queue."""
