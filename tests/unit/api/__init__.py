"""The API, assembled."""
