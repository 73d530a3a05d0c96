"""Penstock turns URLs into trusted data."""

__version__ = "0.1.0"
