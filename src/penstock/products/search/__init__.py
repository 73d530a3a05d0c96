"""Search for products: one port, and the same answers from the store and from a search server."""
