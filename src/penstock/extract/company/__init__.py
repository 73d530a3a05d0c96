"""How the company behind a site is found: its organisation and its contacts."""
