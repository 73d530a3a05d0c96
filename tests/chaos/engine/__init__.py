"""Chaos for the durable engine: faults under load, and a checker that counts what they cost."""
