"""Work that waits: the durable queue, the frontier in memory, and the workers that empty them."""
