"""What the tests of the console share."""

from tests.platforms import site

__all__ = ["site"]
