"""Device pages: bind, show, rename and retire a drive of a host."""
