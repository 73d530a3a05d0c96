"""Lists of URLs, fetched once each, whatever happens meanwhile."""
