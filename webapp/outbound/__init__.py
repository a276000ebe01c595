"""The one client of requests that the register sends to addresses of others: it reaches no internal network."""
