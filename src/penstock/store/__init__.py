"""The store: one SQL database, SQLite or PostgreSQL, behind units of work."""
