"""Products and offers on any site, without a selector for it."""

from penstock.extract.adapter import Adapter
from penstock.extract.page.document import Document
from penstock.extract.product.reading import conclude, read_product
from penstock.kernel.records import Extraction


def extract(document: Document) -> Extraction:
    """The product of a page, or why there is none that can be trusted."""
    return conclude(read_product(document).found)


ADAPTER = Adapter(id="product", version="1.0.0", gives="product", extract=extract)
