"""What `make benchmark` measures, one file a kind; `speed.py` is the script."""
