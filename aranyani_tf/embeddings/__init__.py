"""Images and texts become features: encoders, and the job that runs them over a whole dataset.

Needs the extra `embeddings` (torch, transformers, sentence-transformers, tensorflow-datasets).
"""
