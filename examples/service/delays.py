"""What delayed and missing feedback costs: Adult once through the service's own learner, row by row.

    python examples/service/delays.py

Every row is predicted when it comes, by what was learned until then. Scored is that decision, of all rows, whether
their feedback came or not: this program knows all labels, which a service does not.
"""

import warnings
from collections import deque

import numpy as np

import aranyani_tf as ar
from first_model import first_model, people
from learner import Learner

# What happens to the feedback: rows that it is late by, which share of it comes, and of which parts.
CASES = {
    "at once": {}, "100 rows late": {"delay": 100}, "1,000 rows late": {"delay": 1000},
    "10,000 rows late": {"delay": 10_000}, "late by 0 to 2,000 rows, out of order": {"jitter": 2000},
    "50 % missing": {"missing": 0.5}, "90 % missing": {"missing": 0.9},
    "50 % of women's missing": {"missing": 0.5, "of": "Female"},
    "90 % of women's missing": {"missing": 0.9, "of": "Female"},
    "all of women's missing": {"missing": 1.0, "of": "Female"},
    "labels of 90 % missing, groups known": {"missing": 0.9, "part": "label"},
    "groups of 90 % missing, labels known": {"missing": 0.9, "part": "group"},
    "labels only where the decision was >50K": {"label_if": ">50K"},
}


def run(rows, delay=0, jitter=0, missing=0.0, of=None, part=None, label_if=None):
    """Accuracy and gap of all decisions, the gap of the last 10,000, and the gap that the service itself sees."""
    random, learner = np.random.default_rng(0), Learner(*first_model())
    truth, late = ar.FairnessMonitor(decay=None), ar.FairnessMonitor(decay=None)
    due = {}  # row number → entries whose feedback comes then
    for number, (row, label, group) in enumerate(rows):
        decision = learner.predict(row)["label"]
        codes = learner.form.peek(decision, None)[0], *learner.form.peek(label, group)[::-1]
        truth.add(*codes)
        if number >= len(rows) - 10_000:
            late.add(*codes)
        entry = {"id": str(number), "row": row, "decision": decision, "label": label, "group": group}
        lost = (of is None or group == of) and random.random() < missing
        if part is not None and lost:
            entry[part], lost = None, False
        if label_if is not None and decision != label_if:
            entry["label"] = None
        if not lost:
            when = number + delay + (random.integers(jitter) if jitter else 0)
            due.setdefault(when, deque()).append(entry)
        for entry in due.pop(number, ()):
            learner.take(entry)
    found, seen, weight = truth.seen(), learner.monitor.seen(), learner.tabular.model.fairness_weight
    learner.close()
    return found.metrics["accuracy"], found.gap, late.seen().gap, seen.metrics["accuracy"], seen.gap, weight


def main():
    warnings.filterwarnings("ignore", "column")  # of categories that the first rows do not have
    table = people()
    rows = [(row, row.pop("income"), row.pop("gender")) for row in table.to_dict("records")]
    print("| Feedback | accuracy % | gap | gap, last 10,000 rows | accuracy % that it sees | gap that it sees | "
          "λ at the end |\n|---|---|---|---|---|---|---|")
    for name, case in CASES.items():
        accuracy, gap, late, seen_accuracy, seen_gap, weight = run(rows, **case)
        cells = (name, f"{100 * accuracy:.1f}", f"{gap:.3f}", f"{late:.3f}", f"{100 * seen_accuracy:.1f}",
                 "unknown" if np.isnan(seen_gap) else f"{seen_gap:.3f}", f"{weight:.2f}")
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
