"""The scripts that make what the repository ships: its tables, its embeddings, a page of the docs."""
