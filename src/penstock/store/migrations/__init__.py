"""How the tables came to be, step by step; each step can be taken back."""
