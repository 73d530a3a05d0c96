"""Live pages: watched by the second, for days, supervised."""
