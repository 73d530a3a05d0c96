"""The web console: see everything, run it without code."""
