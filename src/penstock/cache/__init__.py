"""The page cache: bodies under a key, for a while."""
