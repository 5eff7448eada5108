"""Quickstart: one pass over Adult without fairness, and one with it.

    python examples/quickstart.py
"""

import aranyani_tf as ar


def main():
    stream = ar.datasets.load("adult")  # an income above 50,000 or not; the groups are women and men
    print(stream)

    for fairness_weight in (0.0, 0.1):  # λ
        model = ar.Aranyani(num_labels=2, num_trees=3, height=4, fairness_weight=fairness_weight,
                            notion="demographic_parity", penalty=ar.Huber(delta=0.01, linear_slope=1.0),
                            num_groups=2, seed=0)
        model.compile()  # Adam(2e-3)
        history = model.fit(stream.chunks(4096), verbose=0).history  # predicts each row, then learns from it

        # Of all predictions so far, each of them made before its label was seen.
        accuracy, gap = history["accuracy"][-1], history["demographic_parity"][-1]
        print(f"λ = {fairness_weight:<3g} accuracy {accuracy:.3f}, gap between the groups {gap:.3f}")

    probabilities = model.predict(stream.features[:3], verbose=0)  # (row, label); the group is not needed
    print("probability of a high income, first three rows:", *(f"{each:.2f}" for each in probabilities[:, 1]))


if __name__ == "__main__":
    main()
