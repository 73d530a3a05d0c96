"""Readers of single values: price, stock, phone, GTIN and the like; they never guess."""
