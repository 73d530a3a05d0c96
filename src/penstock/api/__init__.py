"""The REST API, assembled: routers, health, metrics, the server."""
