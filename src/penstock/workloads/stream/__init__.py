"""URLs from a queue; pages into a cache, and an event for each to whoever listens."""
