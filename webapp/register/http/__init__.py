"""HTTP parts of public pages: access to unpublished runs, strict query parameters, caching, files and errors."""
