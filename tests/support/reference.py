"""An independent reference: Algorithm 1 in float64 NumPy, one sample, one node, one leaf at a time.

Written from the paper, slowly and plainly, and sharing no code with the library. Gradients of the
network are taken by hand through each path of a tree; nothing is differentiated automatically.
"""

import functools
import math

import numpy as np

# Keras rounds these to float32 in Adam's bias correction, whatever the weights' type is.
LEARNING_RATE, BETA_1, BETA_2 = (float(np.float32(value)) for value in (2e-3, 0.9, 0.999))


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


@functools.cache
def path(leaf, height):
    """The (node, goes_left) pairs from the root to a leaf."""
    node, steps = 0, []
    for depth in range(height):
        left = (leaf >> (height - depth - 1)) & 1 == 0
        steps.append((node, left))
        node = 2 * node + (1 if left else 2)
    return steps


class Reference:
    def __init__(self, kernel, bias, leaf_logits, *, fairness_weight, notion="demographic_parity",
                 constraint="node", delta=0.01, linear_slope=None, num_groups=2, decay=None,
                 forget="rows", chance=0.0, samples_per_step=1, l2=False, learning_rate=LEARNING_RATE,
                 update_when="always", wait_for_all_groups=False, online=True):
        self.weights = [np.array(w, "float64") for w in (kernel, bias, leaf_logits)]
        self.first = [np.zeros_like(w) for w in self.weights]
        self.second = [np.zeros_like(w) for w in self.weights]
        self.step = 0
        self.num_trees, self.num_features, num_nodes = self.weights[0].shape
        self.height = int(np.log2(num_nodes + 1))
        self.num_labels = self.weights[2].shape[2]
        self.fairness_weight, self.notion, self.constraint = fairness_weight, notion, constraint
        self.delta, self.slope, self.l2 = delta, delta if linear_slope is None else linear_slope, l2
        self.num_groups, self.decay, self.samples_per_step = num_groups, decay, samples_per_step
        self.learning_rate, self.update_when = learning_rate, update_when
        self.wait, self.online = wait_for_all_groups, online
        self.forget, self.chance = forget, chance
        self.means = {}  # cell → (count, {quantity: mean}, {quantity: mean gradient}, {quantity: mean square})
        self.groups_seen = set()

    # --- the forest ----------------------------------------------------------------------------

    def leaves(self):
        logits = self.weights[2]
        if self.num_labels == 1:
            return logits
        e = np.exp(logits - logits.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def decisions(self, x):
        return sigmoid(np.einsum("f,tfn->tn", x, self.weights[0]) + self.weights[1])

    def leaf_probability(self, n, tree, leaf):
        return math.prod(n[tree, j] if left else 1 - n[tree, j] for j, left in path(leaf, self.height))

    def predict(self, x):
        n, q = self.decisions(x), self.leaves()
        return sum(self.leaf_probability(n, t, leaf) * q[t, leaf]
                   for t in range(self.num_trees) for leaf in range(2**self.height)) / self.num_trees

    def leaf_gradient(self, x, n, tree, leaf):
        """∇ p_l with respect to [W, B, Θ]."""
        g = [np.zeros_like(w) for w in self.weights]
        steps = path(leaf, self.height)
        for j, left in steps:
            others = math.prod(n[tree, i] if go else 1 - n[tree, i] for i, go in steps if i != j)
            dz = (1 if left else -1) * others * n[tree, j] * (1 - n[tree, j])
            g[0][tree, :, j] += dz * x
            g[1][tree, j] += dz
        return g

    def output_gradient(self, x, label):
        """∇ f_label with respect to [W, B, Θ]."""
        n, q = self.decisions(x), self.leaves()
        total = [np.zeros_like(w) for w in self.weights]
        for t in range(self.num_trees):
            for leaf in range(2**self.height):
                p = self.leaf_probability(n, t, leaf)
                for w, g in zip(total, self.leaf_gradient(x, n, t, leaf), strict=True):
                    w += g * q[t, leaf, label] / self.num_trees
                if self.num_labels == 1:
                    total[2][t, leaf, 0] += p / self.num_trees
                else:
                    for other in range(self.num_labels):
                        total[2][t, leaf, other] += (
                            p * q[t, leaf, label] * ((other == label) - q[t, leaf, other]) / self.num_trees)
        return total

    def loss_and_gradient(self, x, y):
        f = self.predict(x)
        if self.num_labels == 1:
            return (f[0] - y) ** 2, [2 * (f[0] - y) * g for g in self.output_gradient(x, 0)]
        return -np.log(f[y]), [-g / f[y] for g in self.output_gradient(x, y)]

    # --- fairness ------------------------------------------------------------------------------

    def quantities(self, x, y):
        """{name: (value, gradient)} of what is constrained."""
        n = self.decisions(x)
        found = {}
        if self.notion == "representation_parity":
            found["loss"] = self.loss_and_gradient(x, y)
        elif self.constraint == "node":
            for t in range(self.num_trees):
                for j in range(n.shape[1]):
                    g = [np.zeros_like(w) for w in self.weights]
                    slope = n[t, j] * (1 - n[t, j])
                    g[0][t, :, j], g[1][t, j] = slope * x, slope
                    found["node", t, j] = n[t, j], g
        elif self.constraint == "leaf":
            for t in range(self.num_trees):
                for leaf in range(2**self.height):
                    found["leaf", t, leaf] = (
                        self.leaf_probability(n, t, leaf), self.leaf_gradient(x, n, t, leaf))
        else:
            labels = [1] if self.num_labels == 2 else range(self.num_labels)
            for label in labels:
                found["output", label] = self.predict(x)[label], self.output_gradient(x, label)
        return found

    def cells(self, y, a):
        """The cells that a sample is in."""
        if a < 0:
            return []
        labelled = not (np.isnan(y) if self.num_labels == 1 else y < 0)
        if self.notion == "demographic_parity":
            condition = "all"
        elif self.notion == "equal_opportunity":
            condition = 1 if y == 1 else None
        elif self.notion == "equalized_odds":
            condition = y if labelled else None
        else:
            condition = "labelled" if labelled else None
        return [] if condition is None else [(condition, a), (condition, "everybody")]

    def contrasts(self):
        """Pairs of cells that should agree."""
        conditions = {"demographic_parity": ["all"], "equal_opportunity": [1],
                      "equalized_odds": range(self.num_labels), "representation_parity": ["labelled"]}
        for condition in conditions[self.notion]:
            if self.num_groups == 2 and self.notion != "representation_parity":
                yield (condition, 0), (condition, 1)
            else:
                for group in range(self.num_groups):
                    yield (condition, "everybody"), (condition, group)

    def remember(self, x, y, a, weight=1.0):
        cells = self.cells(y, a)
        labelled = not (np.isnan(y) if self.num_labels == 1 else y < 0)
        if self.forget == "time" and (labelled or a >= 0):
            self.means = {cell: ((1 - self.decay) * count, *rest) for cell, (count, *rest) in self.means.items()}
        if not cells:
            return
        now = self.quantities(x, y)
        for cell in cells:
            count, values, gradients, squares = self.means.get(cell, (0.0, {}, {}, {}))
            if self.forget == "rows" and self.decay is not None:
                count *= 1 - self.decay
            count += weight
            for name, (value, gradient) in now.items():
                old, old_gradient = values.get(name, 0.0), gradients.get(name)
                values[name] = old + (value - old) * weight / count
                squares[name] = squares.get(name, 0.0) + (value**2 - squares.get(name, 0.0)) * weight / count
                if old_gradient is None:
                    old_gradient = [np.zeros_like(g) for g in gradient]
                gradients[name] = [o + (g - o) * weight / count for o, g in zip(old_gradient, gradient, strict=True)]
            self.means[cell] = count, values, gradients, squares

    def fairness_gradient(self):
        total = [np.zeros_like(w) for w in self.weights]
        for first, second in self.contrasts():
            if first not in self.means or second not in self.means:
                continue
            (c0, v0, g0, s0), (c1, v1, g1, s1) = self.means[first], self.means[second]
            for name in v0:
                gap = v0[name] - v1[name]
                everybody = (c0 * v0[name] + c1 * v1[name]) / (c0 + c1)
                variance = (c0 * s0[name] + c1 * s1[name]) / (c0 + c1) - everybody**2
                error = np.sqrt(max(variance, 0) * (1 / c0 + 1 / c1))
                gap = np.sign(gap) * max(abs(gap) - self.chance * error, 0)
                linear = abs(gap) >= self.delta and not self.l2
                slope = self.slope * np.sign(gap) if linear else gap
                for w, a, b in zip(total, g0[name], g1[name], strict=True):
                    w += self.fairness_weight * slope * (a - b)
        return total

    # --- learning ------------------------------------------------------------------------------

    def learn(self, xs, ys, groups, weights):
        """One step over a few samples; returns what was predicted before it."""
        outputs = np.stack([self.predict(x) for x in xs])
        rows = [row for row in zip(xs, ys, groups, weights, outputs, strict=True)
                if row[3] > 0 and (self.update_when == "always" or np.argmax(row[4]) == 1)]
        labelled = [(x, y, weight) for x, y, _, weight, _ in rows
                    if not (np.isnan(y) if self.num_labels == 1 else y < 0)]
        task = [np.zeros_like(w) for w in self.weights]
        for x, y, weight in labelled:
            for w, g in zip(task, self.loss_and_gradient(x, y)[1], strict=True):
                w += weight * g / len(labelled)
        if not self.online:
            self.means = {}
        counted = 0
        for x, y, a, weight, _ in rows:
            self.remember(x, y, a, weight)
            counted += len(self.cells(y, a))
            if a >= 0:
                self.groups_seen.add(a)
        fair = self.fairness_weight > 0
        if not labelled and not (fair and counted):
            return outputs
        if self.wait and fair and len(self.groups_seen) < self.num_groups:
            return outputs
        self.adam([t + f for t, f in zip(task, self.fairness_gradient(), strict=True)])
        return outputs

    def adam(self, gradients):
        self.step += 1
        for w, m, v, g in zip(self.weights, self.first, self.second, gradients, strict=True):
            m += (1 - 0.9) * (g - m)
            v += (1 - 0.999) * (g * g - v)
            rate = self.learning_rate * np.sqrt(1 - BETA_2**self.step) / (1 - BETA_1**self.step)
            w -= rate * m / (np.sqrt(v) + 1e-7)

    def run(self, features, labels, groups, weights=None):
        k, weights = self.samples_per_step, np.ones(len(features)) if weights is None else weights
        return np.concatenate([
            self.learn(features[i : i + k].astype("float64"), labels[i : i + k], groups[i : i + k], weights[i : i + k])
            for i in range(0, len(features), k)])
