"""The path of a URL, from a request to a page, and the policies on it."""
