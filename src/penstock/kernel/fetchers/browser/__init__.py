"""Pages opened in Chromium: the pool, the processes, and what is done with one page."""
