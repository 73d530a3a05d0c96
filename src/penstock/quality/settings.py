"""The settings of judgment."""

from pydantic import Field

from penstock.kernel.settings import Section


class QualitySettings(Section):
    """What is believed."""

    max_price_factor: float = Field(
        3.0, ge=1, description="a price further up or down than this is held back; inf: none is"
    )
