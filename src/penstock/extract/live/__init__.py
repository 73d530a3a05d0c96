"""Reading pages that change by the second: what they say now, and whether that matters."""
