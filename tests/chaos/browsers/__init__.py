"""The service with real browsers for a long time: what it takes must not grow."""
