"""Django template tags: number formats, page metadata and page parts."""
