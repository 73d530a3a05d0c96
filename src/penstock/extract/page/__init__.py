"""Views of a page: its text and tree, structured data in every syntax, labelled values."""
