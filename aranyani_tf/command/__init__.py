"""The `aranyani` command: learn from a file or a pipe as it comes, evaluate, explain, look at data, and at costs."""
