"""Product facts that workloads share: who sells, what is sold, what it cost and when.

`prices` is append-only: the database itself refuses to change or delete a row. What turns out to
be wrong is hidden or overridden by a correction, which every reader applies.
"""

from sqlalchemy import (
    Boolean,
    Column,
    Computed,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from penstock.store.schema import CleanText, Fixed, Json, Moment, metadata, partial_index

retailers = Table(
    "retailers",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", CleanText, nullable=False, unique=True),
    Column("website_url", CleanText),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("updated_by", CleanText),
)

sources = Table(
    "sources",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", CleanText, nullable=False, unique=True),
    Column("domain", CleanText, nullable=False),
    Column("retailer_id", Text, ForeignKey("retailers.id"), nullable=False),
    Column("adapter_id", Text),
    Column("scrape_config", Json, nullable=False),
    Column("visibility_status", Text, nullable=False, server_default="INELIGIBLE"),
    Column("tos_reviewed_at", Moment),
    Column("tos_approved_by", CleanText),
    Column("robots_compliant", Boolean, nullable=False, server_default=text("TRUE")),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("updated_by", CleanText),
    Index("ix_sources_domain", "domain"),
)

#: How the catalogue crawls a source: one row for each source that it crawls.
domains = Table(
    "domains",
    metadata,
    Column("id", Text, primary_key=True),
    Column("source_id", Text, ForeignKey("sources.id"), nullable=False, unique=True),
    Column("domain_name", CleanText, nullable=False, unique=True),
    Column("base_url", CleanText, nullable=False),
    Column("crawl_delay_seconds", Integer, nullable=False, server_default="1"),
    Column("max_concurrent_requests", Integer, nullable=False, server_default="5"),
    # Seconds between two crawls of a page that says nothing itself.
    Column("crawl_frequency", Integer),
    # The adapter that reads its pages; the one for the URL where nothing is said.
    Column("parser", Text),
    Column("is_active", Boolean, nullable=False, server_default=text("TRUE")),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("updated_by", CleanText),
    Index("idx_domains_domain_name", "domain_name"),
    Index("idx_domains_is_active", "is_active"),
)

source_trust_config = Table(
    "source_trust_config",
    metadata,
    Column("source_id", Text, ForeignKey("sources.id"), primary_key=True),
    Column("upc_trusted", Boolean, nullable=False, server_default=text("FALSE")),
    Column("updated_at", Moment, nullable=False),
    Column("updated_by", CleanText),
)

products = Table(
    "products",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", CleanText, nullable=False),
    Column("brand", CleanText),
    Column("upc", CleanText),
    Column("mpn", CleanText),
    Column("caliber", CleanText),
    Column("grain_weight", Fixed(9, 3)),
    Column("round_count", Integer),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
)

#: Which product stands for a key: a trusted UPC, attributes, a manufacturer's number, or an offer
#: that has none of them. A product belongs to the strongest of its keys.
product_keys = Table(
    "product_keys",
    metadata,
    Column("key", CleanText, primary_key=True),
    Column("product_id", Text, ForeignKey("products.id"), nullable=False),
    Index("ix_product_keys_product_id", "product_id"),
)

#: Only what the catalogue has of source products is found by these; the monitor pays nothing.
OF_CATALOGUE = "domain_id IS NOT NULL"
#: Names of the catalogue's indexes, and what they are on.
CATALOGUE_INDEXES = {
    "idx_products_domain_id": ("domain_id", "id"),
    "idx_products_product_name": ("product_name", "id"),
    "idx_products_price": ("price", "id"),
    "idx_products_availability": ("availability", "id"),
    "idx_products_rating": ("rating", "id"),
    "idx_products_created_at": ("created_at", "id"),
    "idx_products_updated_at": ("updated_at", "id"),
    "idx_products_url_hash": ("url_hash",),
    "idx_products_brand": ("brand", "id"),
    "idx_products_category": ("category", "id"),
    "idx_products_crawl_task_id": ("crawl_task_id",),
}

source_products = Table(
    "source_products",
    metadata,
    Column("id", Text, primary_key=True),
    Column("source_id", Text, ForeignKey("sources.id"), nullable=False),
    Column("identity_key", CleanText, nullable=False),
    Column("product_id", Text, ForeignKey("products.id")),
    Column("url", CleanText, nullable=False),
    Column("title", CleanText, nullable=False),
    Column("brand", CleanText),
    Column("retailer_sku", CleanText),
    Column("retailer_product_id", CleanText),
    Column("upc", CleanText),
    Column("mpn", CleanText),
    Column("caliber", CleanText),
    Column("grain_weight", Fixed(9, 3)),
    Column("round_count", Integer),
    Column("case_material", CleanText),
    Column("bullet_type", CleanText),
    Column("load_type", CleanText),
    Column("shell_length", CleanText),
    Column("image_url", CleanText),
    # What the resolver compares; absent where the facts do not suffice.
    Column("gtin_key", CleanText),
    Column("attributes_key", CleanText),
    Column("mpn_key", CleanText),
    Column("adapter_version", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    # What the catalogue knows beside that; all of it is absent for what only the monitor reads.
    Column("domain_id", Text),
    Column("crawl_task_id", Text),
    Column("url_hash", Text),
    # The same under the catalogue's names; as long as an index takes.
    Column("product_name", Text, Computed("substr(title, 1, 512)")),
    Column("sku", Text, Computed("retailer_sku")),
    Column("description", CleanText),
    # The last price that is not hidden, as corrected; kept true by `refresh_current`.
    Column("price", Fixed(10, 2)),
    Column("currency", Text),
    Column("availability", Text),
    Column("rating", Fixed(3, 2)),
    Column("review_count", Integer),
    Column("category", CleanText),
    Column("content_hash", Text),
    Column("metadata", Json),
    Column("last_seen_at", Moment),
    # What the last page said of the stock if it showed no price: then no older price counts.
    Column("stock_without_price", Text),
    Column("archived_at", Moment),
    UniqueConstraint(
        "source_id", "identity_key", name="source_products_source_identity_key_unique"
    ),
    Index("ix_source_products_product_id", "product_id"),
    partial_index(
        "ix_source_products_attributes_key", "attributes_key", where="attributes_key IS NOT NULL"
    ),
    partial_index("ix_source_products_mpn_key", "mpn_key", where="mpn_key IS NOT NULL"),
    *(
        partial_index(name, *columns, where=OF_CATALOGUE)
        for name, columns in CATALOGUE_INDEXES.items()
    ),
)

images = Table(
    "images",
    metadata,
    Column("id", Text, primary_key=True),
    Column("product_id", Text, ForeignKey("source_products.id"), nullable=False),
    Column("image_url", CleanText, nullable=False),
    # Where it is kept, once it is: the address of a blob, which names its content.
    Column("image_path", Text),
    Column("alt_text", CleanText),
    Column("image_type", Text, nullable=False, server_default="primary"),
    Column("position", Integer, nullable=False, server_default="0"),
    Column("width", Integer),
    Column("height", Integer),
    Column("file_size", Integer),
    Column("content_type", Text),
    # pending, kept or failed; and why.
    Column("status", Text, nullable=False, server_default="pending"),
    Column("error", CleanText),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Index("idx_images_product_id", "product_id", "position"),
    partial_index("ix_images_image_path", "image_path", where="image_path IS NOT NULL"),
    partial_index("ix_images_pending", "updated_at", where="status = 'pending'"),
)

source_product_identifiers = Table(
    "source_product_identifiers",
    metadata,
    Column("source_product_id", Text, ForeignKey("source_products.id"), primary_key=True),
    Column("id_type", Text, primary_key=True),
    Column("id_value", CleanText, primary_key=True),
    Column("created_at", Moment, nullable=False),
    Index("ix_source_product_identifiers_id_type_id_value", "id_type", "id_value"),
)

prices = Table(
    "prices",
    metadata,
    Column("id", Text, primary_key=True),
    Column("source_product_id", Text, ForeignKey("source_products.id"), nullable=False),
    Column("source_id", Text, ForeignKey("sources.id"), nullable=False),
    Column("retailer_id", Text, ForeignKey("retailers.id"), nullable=False),
    Column("target_id", Text, nullable=False, server_default=""),
    Column("price", Fixed(10, 2), nullable=False),
    Column("currency", Text, nullable=False),
    Column("availability", Text),
    Column("shipping", Fixed(10, 2)),
    Column("tax_included", Boolean),
    Column("cost_per_round", Fixed(12, 4)),
    Column("url", CleanText, nullable=False),
    Column("observed_at", Moment, nullable=False),
    Column("ingestion_run_type", Text, nullable=False),
    Column("ingestion_run_id", Text, nullable=False),
    Column("adapter_id", Text, nullable=False),
    Column("adapter_version", Text, nullable=False),
    # Who let it out of quarantine; absent for what nobody had to look at.
    Column("released_by", CleanText),
    Column("created_at", Moment, nullable=False),
    UniqueConstraint(
        "source_product_id", "ingestion_run_id", "target_id", name="prices_observation_unique"
    ),
    Index("ix_prices_source_product_id_observed_at", "source_product_id", "observed_at"),
    Index("ix_prices_ingestion_run_id", "ingestion_run_id"),
    Index("ix_prices_target_id_observed_at", "target_id", "observed_at"),
    Index("ix_prices_source_id_observed_at", "source_id", "observed_at"),
    Index("ix_prices_observed_at_id", "observed_at", "id"),
    # What came since: a price that was released is younger than when it was seen.
    Index("ix_prices_created_at_id", "created_at", "id"),
)

price_corrections = Table(
    "price_corrections",
    metadata,
    Column("id", Text, primary_key=True),
    Column("price_id", Text, ForeignKey("prices.id"), nullable=False),
    Column("action", Text, nullable=False),
    Column("price", Fixed(10, 2)),
    Column("reason", CleanText, nullable=False),
    Column("created_by", CleanText, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("revoked_by", CleanText),
    Column("revoked_at", Moment),
    # One correction of a price counts at a time.
    partial_index(
        "uq_price_corrections_price_id", "price_id", where="revoked_at IS NULL", unique=True
    ),
)
