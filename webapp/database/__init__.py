"""Django's PostgreSQL backend with a time limit for answers."""
