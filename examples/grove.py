"""A grid of λ and seeds in one pass: what does fairness cost, and which model to go on with?

    python examples/grove.py
"""

import aranyani_tf as ar

ACCEPTABLE = 0.1  # the gap between the groups that we can live with


def main():
    stream = ar.datasets.load("compas", preprocessing="standardized")
    today, tomorrow = stream[:6000], stream[6000:]

    grove = ar.Grove({"num_trees": 3, "height": 4, "penalty": ar.Huber(linear_slope=1.0)},
                     fairness_weights=[0.0, 0.01, 0.03, 0.1, 0.3], seeds=[0, 1, 2])
    records = grove.fit(today, verbose=0)  # a data frame, one row for each member and checkpoint

    # The price of fairness: the last record of each member, as a mean over the seeds.
    ends = records[records["step"] == len(today)]
    table = ends.groupby("fairness_weight")[["accuracy", "demographic_parity"]].mean()
    print(table.round(3), "\n")

    # The most accurate λ among those that are fair enough, or the fairest if none is.
    fair_enough = table[table["demographic_parity"] <= ACCEPTABLE]
    weight = table["demographic_parity"].idxmin() if fair_enough.empty else fair_enough["accuracy"].idxmax()
    print(f"chosen: λ = {weight:g}")

    # A member is a model of its own, optimizer included: it goes on with tomorrow's rows.
    model = grove.model(fairness_weight=weight, seed=0)
    model.fit(tomorrow, verbose=0)
    seen = model.so_far()
    print(f"tomorrow, {seen['rows']:,} rows: accuracy {seen['accuracy']:.3f}, gap {seen['demographic_parity']:.3f}")


if __name__ == "__main__":
    main()
