"""The API, version 1: endpoints, tokens, errors and status codes. results/intake stores what it receives."""
