"""The adapters that come with Penstock. A new one is a file here and a line in the list."""

from penstock.extract.adapter import Adapter
from penstock.extract.adapters import (
    amazon,
    company_website,
    job_posting,
    linkedin_profile,
    product,
    sgammo,
)

ADAPTERS: tuple[Adapter, ...] = (
    product.ADAPTER,
    job_posting.ADAPTER,
    company_website.ADAPTER,
    linkedin_profile.ADAPTER,
    linkedin_profile.ON_LINKEDIN,
    amazon.ADAPTER,
    sgammo.ADAPTER,
)
