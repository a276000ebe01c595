"""The visible parts of withheld logs and of histories. webapp/register/http/access.py decides who may open a run."""
