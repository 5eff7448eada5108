"""Keras models of your own: in the forest's place (`predictor=`), or in front of it (`encoder=`).

    python examples/own_keras_model.py
"""

import keras

import aranyani_tf as ar

# Running means hold gradients of old weights; those of a network change fast, so it does better if they forget.
FAIR = {"penalty": ar.Huber(linear_slope=1.0), "decay": 0.01, "seed": 0}


def main():
    keras.utils.set_random_seed(0)  # for the layers below; the forest has a seed of its own
    stream = ar.datasets.load("synthetic", num_rows=8000, seed=0)

    # Any model that gives probabilities (row, label) learns fairly from a stream: the constraint is on its output.
    network = keras.Sequential([keras.Input((stream.num_features,)), keras.layers.Dense(32, activation="relu"),
                                keras.layers.Dense(stream.num_labels, activation="softmax")])
    model = ar.Aranyani(predictor=network, constraint="output", fairness_weight=1.0, **FAIR)
    learn("a network", model, stream)
    print("  it is still yours:", network(stream.features[:1]).shape)  # trained in place

    # A layer in front of the forest learns with it, from the task's gradient alone. So it works against the forest's
    # penalty, which must be stronger than without; `trainable=False` would keep the layer as it is.
    encoder = keras.layers.Dense(8, activation="tanh")
    model = ar.Aranyani(num_trees=3, height=3, encoder=encoder, fairness_weight=3.0, **FAIR)
    learn("an encoder and a forest", model, stream)


def learn(name, model, stream):
    model.compile(keras.optimizers.Adam(2e-3))
    model.fit(stream.chunks(2000), verbose=0)
    seen = model.so_far()
    print(f"{name}: accuracy {seen['accuracy']:.3f}, gap {seen['demographic_parity']:.3f}")


if __name__ == "__main__":
    main()
