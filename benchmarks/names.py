"""What results/benchmark.csv calls the contenders, and the size of all forests but those of other heights."""

NUM_TREES, HEIGHT = 3, 4
WIDTHS = (14, 40, 768)  # features: Adult's, Census's, and those of a sentence's embedding

FIT, LIVE, MODEL, GROVE, SKETCH = "aranyani fit", "aranyani live", "aranyani model", "aranyani grove", "numba sketch"
HOEFFDING, ADAPTIVE = "river HoeffdingTree", "river HoeffdingAdaptiveTree"
LOGISTIC, PLAIN, SCIKIT = "river LogisticRegression", "keras fit(batch_size=1)", "scikit-learn SGDClassifier"
PIPELINE = "aranyani river"
PREDICT, LEARN, BOTH = "predict", "learn", "predict then learn"  # operations on one row
