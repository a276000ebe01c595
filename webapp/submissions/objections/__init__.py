"""Forms about objections: filing, withdrawal, review and reply."""
