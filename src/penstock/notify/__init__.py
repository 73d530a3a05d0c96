"""Telling others: signed webhooks."""
