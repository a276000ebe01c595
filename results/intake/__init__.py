"""The one intake path: stores evidence from uploads, the API and the lab. results/ingest writes the rows later."""
