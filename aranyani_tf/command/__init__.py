"""The `aranyani` command: learn from a file or a pipe as it comes, evaluate, explain, and look at the shipped data."""
