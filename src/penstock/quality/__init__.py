"""Judgment: what is found on a page is cleaned, and only what can be trusted is accepted."""
