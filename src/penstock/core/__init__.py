"""What everything stands on: errors, time, URLs, logs, metrics."""
