"""Work that waits: the frontier in memory, and the workers that empty it."""
