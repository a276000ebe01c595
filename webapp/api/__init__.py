"""The API, version 1: endpoints, tokens and throttles, status codes of errors. results/intake stores what is sent."""
