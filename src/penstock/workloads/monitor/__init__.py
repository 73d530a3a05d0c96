"""The price monitor: known URLs, judged prices, drift that stops itself."""
