"""Publication, withdrawal, correction, embargo and review of results. Each change writes an event."""
