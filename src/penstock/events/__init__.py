"""Events: written with the outcome that causes them, kept in order, delivered at least once."""
