"""A model in formats that others read without this package: SavedModel, LiteRT, ONNX. `model.export` writes them."""
