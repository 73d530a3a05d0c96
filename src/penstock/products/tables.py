"""Product facts that workloads share: who sells, what is sold, what it cost and when.

`prices` is append-only: the database itself refuses to change or delete a row. What turns out to
be wrong is hidden or overridden by a correction, which every reader applies.
"""

from sqlalchemy import (
    Boolean,
    Column,
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
    UniqueConstraint(
        "source_id", "identity_key", name="source_products_source_identity_key_unique"
    ),
    Index("ix_source_products_product_id", "product_id"),
    partial_index(
        "ix_source_products_attributes_key", "attributes_key", where="attributes_key IS NOT NULL"
    ),
    partial_index("ix_source_products_mpn_key", "mpn_key", where="mpn_key IS NOT NULL"),
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
