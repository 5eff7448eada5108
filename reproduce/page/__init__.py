"""The parts of the one page that `make report` writes: results in, HTML out. Nothing here runs a model."""
