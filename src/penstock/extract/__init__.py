"""Extraction: from a page to raw fields with evidence, or to a typed reason why not."""
