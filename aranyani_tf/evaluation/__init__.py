"""How a model did along a stream: metrics, and records of them."""
