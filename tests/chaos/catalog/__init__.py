"""Crawlers on PostgreSQL, RabbitMQ and S3, and everything that is done to them."""
