"""An encoder learned jointly with the forest, on small images: what a convolution in front of it is worth.

Each image has one bar, lying or standing, anywhere. A tree that looks at single pixels cannot know where to look; a
convolution finds a bar wherever it is, and it learns that from the same rows, one by one, as the forest behind it.

    python examples/joint_encoder.py
"""

import keras
import numpy as np

import aranyani_tf as ar

SIDE, BAR = 8, 4  # pixels


def bars(num_rows, seed=0):
    """Noisy images with a lying (0) or a standing bar (1); the second group's are brighter, and stand more often."""
    random = np.random.default_rng(seed)
    groups = random.integers(0, 2, num_rows)
    labels = (random.random(num_rows) < np.where(groups == 1, 0.6, 0.4)).astype(int)
    images = 0.4 * random.normal(size=(num_rows, SIDE, SIDE)) + 0.3 * groups[:, None, None]
    for image, label in zip(images, labels, strict=True):
        line, start = random.integers(SIDE), random.integers(SIDE - BAR + 1)
        (image.T if label else image)[line, start : start + BAR] += 1.0
    return ar.Stream(images.reshape(num_rows, -1).astype("float32"), labels, groups, name="bars")


def convolution():
    """(row, 64 pixels) → (row, 8): how much of each of eight patterns there is, wherever it is."""
    return keras.Sequential([keras.layers.Reshape((SIDE, SIDE, 1)), keras.layers.Conv2D(8, 3, activation="relu"),
                             keras.layers.GlobalMaxPooling2D()])


def main():
    stream = bars(6000)
    print(stream)
    learn("a forest on the pixels", stream, encoder=None, fairness_weight=0.0)
    learn("a convolution and a forest", stream, encoder=convolution(), fairness_weight=0.0)
    # The encoder learns from the task alone, and against the penalty: the running means have to forget its old weights.
    model = learn("the same, fairly", stream, encoder=convolution(), fairness_weight=1.0, decay=0.01)
    print("what the forest sees of an image:", model.encoder(stream.features[:1]).shape)


def learn(name, stream, **settings):
    keras.utils.set_random_seed(0)  # of the layers; the forest has a seed of its own
    model = ar.Aranyani(num_trees=3, height=4, penalty=ar.Huber(linear_slope=1.0), seed=0, **settings)
    model.compile()
    model.fit(stream.chunks(1000), verbose=0)
    seen = model.so_far()
    print(f"{name}: {100 * seen['accuracy']:.1f} % right, {100 * seen['recent_accuracy']:.1f} % of the last rows; "
          f"{100 * seen['demographic_parity']:.1f} points between the groups")
    return model


if __name__ == "__main__":
    main()
