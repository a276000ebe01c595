"""Deployment: settings that are unsafe in production, the commands of the servers, and limits on migrations."""
