"""What leaves the register for other programs: sitemap, feeds, badges, pictures, citations, permanent ids."""
