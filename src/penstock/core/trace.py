"""Trace ids, in the form of the W3C `traceparent` header, from a request to its last event."""

from penstock.core.ids import chance_of


def new_trace() -> str:
    """A trace that begins here."""
    return f"00-{chance_of(128):032x}-{chance_of(64):016x}-01"


def trace_id(traceparent: str) -> str:
    """The part that all steps of one trace share; empty if there is none."""
    return traceparent[3:35]
