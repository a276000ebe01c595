"""What readers may see of withheld logs and of histories. webapp/register/http/access.py decides who may open a run."""
