"""What the tests need of this machine: found, installed, started, and stopped again."""
