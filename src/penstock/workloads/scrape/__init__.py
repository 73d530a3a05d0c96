"""The scrape service: a page's data by API, now, later or as a batch."""
