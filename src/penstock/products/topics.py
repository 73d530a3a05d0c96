"""Changes to products that others follow, by the names of the events."""

#: What consumers may see of a source product changed; the key is its id.
PRODUCT_CHANGED = "product.changed"
#: Who may see the products of a source changed, or its name; the key is the source's id.
SOURCE_CHANGED = "source.changed"
