"""Ways to get a page."""
