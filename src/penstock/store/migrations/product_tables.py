"""The tables of product facts, as revision 0005 makes them."""

import sqlalchemy as sa
from alembic import op

from penstock.store.migrations.pieces import create_partial, fixed

#: The last price of each source product that consumers may see, with its correction applied.
CURRENT_VISIBLE_PRICES = """
    CREATE VIEW current_visible_prices AS
    SELECT
        seen.id AS price_id, offer.product_id, seen.source_product_id, seen.source_id,
        seen.retailer_id, offer.title, seen.url,
        COALESCE(correction.price, seen.price) AS price, seen.currency, seen.availability,
        seen.shipping, seen.tax_included,
        CASE WHEN correction.price IS NULL THEN seen.cost_per_round END AS cost_per_round,
        seen.observed_at, seen.ingestion_run_type
    FROM source_products AS offer
    JOIN sources AS source
        ON source.id = offer.source_id AND source.visibility_status = 'ELIGIBLE'
    JOIN prices AS seen ON seen.id = (
        SELECT candidate.id
        FROM prices AS candidate
        LEFT JOIN price_corrections AS hidden
            ON hidden.price_id = candidate.id AND hidden.revoked_at IS NULL
            AND hidden.action = 'HIDE'
        WHERE candidate.source_product_id = offer.id AND hidden.id IS NULL
        ORDER BY candidate.observed_at DESC, candidate.id DESC
        LIMIT 1
    )
    LEFT JOIN price_corrections AS correction
        ON correction.price_id = seen.id AND correction.revoked_at IS NULL
"""
NOT_CHANGED = "prices are append-only: correct one with a price correction"


def create_products() -> None:
    """Shops, what they sell, and prices that nobody changes."""
    _create_retailers()
    _create_sources()
    _create_source_trust_config()
    _create_products()
    _create_product_keys()
    _create_source_products()
    _create_source_product_identifiers()
    _create_prices()
    _create_price_corrections()
    _refuse_changes()
    op.execute(CURRENT_VISIBLE_PRICES)


def _create_retailers() -> None:
    op.create_table(
        "retailers",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("website_url", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("updated_by", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_retailers"),
        sa.UniqueConstraint("name", name="uq_retailers_name"),
    )


def _create_sources() -> None:
    op.create_table(
        "sources",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("domain", sa.Text, nullable=False),
        sa.Column("retailer_id", sa.Text, nullable=False),
        sa.Column("adapter_id", sa.Text),
        sa.Column("scrape_config", sa.Text, nullable=False),
        sa.Column("visibility_status", sa.Text, nullable=False, server_default="INELIGIBLE"),
        sa.Column("tos_reviewed_at", sa.BigInteger),
        sa.Column("tos_approved_by", sa.Text),
        sa.Column("robots_compliant", sa.Boolean, nullable=False, server_default=sa.text("TRUE")),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("updated_by", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_sources"),
        sa.ForeignKeyConstraint(["retailer_id"], ["retailers.id"]),
        sa.UniqueConstraint("name", name="uq_sources_name"),
    )
    op.create_index("ix_sources_domain", "sources", ["domain"])


def _create_source_trust_config() -> None:
    op.create_table(
        "source_trust_config",
        sa.Column("source_id", sa.Text, nullable=False),
        sa.Column("upc_trusted", sa.Boolean, nullable=False, server_default=sa.text("FALSE")),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("updated_by", sa.Text),
        sa.PrimaryKeyConstraint("source_id", name="pk_source_trust_config"),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"]),
    )


def _create_products() -> None:
    op.create_table(
        "products",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("brand", sa.Text),
        sa.Column("upc", sa.Text),
        sa.Column("mpn", sa.Text),
        sa.Column("caliber", sa.Text),
        sa.Column("grain_weight", fixed(9, 3)),
        sa.Column("round_count", sa.Integer),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_products"),
    )


def _create_product_keys() -> None:
    op.create_table(
        "product_keys",
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("product_id", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_product_keys"),
        sa.ForeignKeyConstraint(["product_id"], ["products.id"]),
    )
    op.create_index("ix_product_keys_product_id", "product_keys", ["product_id"])


def _create_source_products() -> None:
    op.create_table(
        "source_products",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("source_id", sa.Text, nullable=False),
        sa.Column("identity_key", sa.Text, nullable=False),
        sa.Column("product_id", sa.Text),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("brand", sa.Text),
        sa.Column("retailer_sku", sa.Text),
        sa.Column("retailer_product_id", sa.Text),
        sa.Column("upc", sa.Text),
        sa.Column("mpn", sa.Text),
        sa.Column("caliber", sa.Text),
        sa.Column("grain_weight", fixed(9, 3)),
        sa.Column("round_count", sa.Integer),
        sa.Column("case_material", sa.Text),
        sa.Column("bullet_type", sa.Text),
        sa.Column("load_type", sa.Text),
        sa.Column("shell_length", sa.Text),
        sa.Column("image_url", sa.Text),
        sa.Column("gtin_key", sa.Text),
        sa.Column("attributes_key", sa.Text),
        sa.Column("mpn_key", sa.Text),
        sa.Column("adapter_version", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_source_products"),
        sa.ForeignKeyConstraint(["product_id"], ["products.id"]),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"]),
        sa.UniqueConstraint(
            "source_id", "identity_key", name="source_products_source_identity_key_unique"
        ),
    )
    op.create_index("ix_source_products_product_id", "source_products", ["product_id"])
    for key in ("attributes_key", "mpn_key"):
        create_partial(f"ix_source_products_{key}", "source_products", [key], f"{key} IS NOT NULL")


def _create_source_product_identifiers() -> None:
    op.create_table(
        "source_product_identifiers",
        sa.Column("source_product_id", sa.Text, nullable=False),
        sa.Column("id_type", sa.Text, nullable=False),
        sa.Column("id_value", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint(
            "source_product_id", "id_type", "id_value", name="pk_source_product_identifiers"
        ),
        sa.ForeignKeyConstraint(["source_product_id"], ["source_products.id"]),
    )
    op.create_index(
        "ix_source_product_identifiers_id_type_id_value",
        "source_product_identifiers",
        ["id_type", "id_value"],
    )


def _create_prices() -> None:
    op.create_table(
        "prices",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("source_product_id", sa.Text, nullable=False),
        sa.Column("source_id", sa.Text, nullable=False),
        sa.Column("retailer_id", sa.Text, nullable=False),
        sa.Column("target_id", sa.Text, nullable=False, server_default=""),
        sa.Column("price", fixed(10, 2), nullable=False),
        sa.Column("currency", sa.Text, nullable=False),
        sa.Column("availability", sa.Text),
        sa.Column("shipping", fixed(10, 2)),
        sa.Column("tax_included", sa.Boolean),
        sa.Column("cost_per_round", fixed(12, 4)),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("observed_at", sa.BigInteger, nullable=False),
        sa.Column("ingestion_run_type", sa.Text, nullable=False),
        sa.Column("ingestion_run_id", sa.Text, nullable=False),
        sa.Column("adapter_id", sa.Text, nullable=False),
        sa.Column("adapter_version", sa.Text, nullable=False),
        sa.Column("released_by", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_prices"),
        sa.ForeignKeyConstraint(["retailer_id"], ["retailers.id"]),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"]),
        sa.ForeignKeyConstraint(["source_product_id"], ["source_products.id"]),
        sa.UniqueConstraint(
            "source_product_id", "ingestion_run_id", "target_id", name="prices_observation_unique"
        ),
    )
    op.create_index("ix_prices_ingestion_run_id", "prices", ["ingestion_run_id"])
    op.create_index("ix_prices_observed_at_id", "prices", ["observed_at", "id"])
    op.create_index("ix_prices_source_id_observed_at", "prices", ["source_id", "observed_at"])
    op.create_index(
        "ix_prices_source_product_id_observed_at", "prices", ["source_product_id", "observed_at"]
    )
    op.create_index("ix_prices_target_id_observed_at", "prices", ["target_id", "observed_at"])


def _create_price_corrections() -> None:
    op.create_table(
        "price_corrections",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("price_id", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("price", fixed(10, 2)),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("created_by", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("revoked_by", sa.Text),
        sa.Column("revoked_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name="pk_price_corrections"),
        sa.ForeignKeyConstraint(["price_id"], ["prices.id"]),
    )
    create_partial(
        "uq_price_corrections_price_id",
        "price_corrections",
        ["price_id"],
        "revoked_at IS NULL",
        unique=True,
    )


def _refuse_changes() -> None:
    """Let the database itself refuse to change or delete a price."""
    if op.get_bind().dialect.name == "sqlite":
        for action in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER prices_no_{action.lower()} BEFORE {action} ON prices "
                f"BEGIN SELECT RAISE(ABORT, '{NOT_CHANGED}'); END"
            )
        return
    op.execute(
        "CREATE FUNCTION prices_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{NOT_CHANGED}'; END $$"
    )
    op.execute(
        "CREATE TRIGGER prices_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON prices "
        "FOR EACH STATEMENT EXECUTE FUNCTION prices_refuse()"
    )
