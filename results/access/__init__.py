"""Redaction of withheld evidence in runs and histories. webapp/register/http/access.py decides who may open a run."""
