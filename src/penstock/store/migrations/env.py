"""Alembic's entry point: runs the steps in the transaction that `store.migrate` opened."""

from alembic import context

from penstock.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
