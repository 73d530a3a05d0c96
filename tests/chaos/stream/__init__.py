"""Page fetchers on Redis and Kafka, and everything that is done to them."""
