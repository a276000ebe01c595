"""Drawings that the server makes: scales and marks that pages and share images have in common."""
