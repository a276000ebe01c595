"""Output for other programs: sitemap, feeds, badges, pictures, citations and permanent ids."""
