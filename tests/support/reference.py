"""An independent reference: Algorithm 1 in float64 NumPy, one sample at a time, all leaves of a forest at once.

Written from the paper, plainly, and sharing no code with the library. Gradients of the network are taken by
hand through each path of a tree; nothing is differentiated automatically.
"""

import functools

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


@functools.cache
def path_arrays(height):
    """`path` of all leaves: the nodes, and whether it goes left there, both (leaf, depth)."""
    steps = np.array([path(leaf, height) for leaf in range(2**height)])
    return steps[..., 0], steps[..., 1] == 1


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
        self.means = {}  # cell → (count, mean values, mean gradients, mean squares)
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

    def factors(self, n):
        """What each step of the path to a leaf has: n where it goes left, 1 − n where it goes right."""
        nodes, left = path_arrays(self.height)
        return np.where(left, n[:, nodes], 1 - n[:, nodes])  # (tree, leaf, depth)

    def leaf_probabilities(self, n):
        return self.factors(n).prod(axis=-1)  # (tree, leaf)

    def predict(self, x):
        return np.einsum("tl,tlc->c", self.leaf_probabilities(self.decisions(x)), self.leaves()) / self.num_trees

    def leaf_slopes(self, n):
        """∂ p_l / ∂ z_j, where n = sigmoid(z): 0 but for the nodes on the path to the leaf."""
        factors, (nodes, left) = self.factors(n), path_arrays(self.height)
        slopes, leaves = np.zeros((*factors.shape[:2], n.shape[1])), np.arange(2**self.height)
        for depth in range(self.height):
            j = nodes[:, depth]
            others = np.delete(factors, depth, axis=-1).prod(axis=-1)
            slopes[:, leaves, j] = np.where(left[:, depth], 1, -1) * others * n[:, j] * (1 - n[:, j])
        return slopes  # (tree, leaf, node)

    def output_gradient(self, x, label):
        """∇ f_label with respect to [W, B, Θ]."""
        n, q = self.decisions(x), self.leaves()
        p = self.leaf_probabilities(n)[..., None]
        dz = np.einsum("tl,tln->tn", q[..., label], self.leaf_slopes(n))
        d_logits = p if self.num_labels == 1 else p * q[..., label, None] * (np.eye(self.num_labels)[label] - q)
        return [g / self.num_trees for g in (x[:, None] * dz[:, None, :], dz, d_logits)]

    def loss_and_gradient(self, x, y):
        f = self.predict(x)
        if self.num_labels == 1:
            return (f[0] - y) ** 2, [2 * (f[0] - y) * g for g in self.output_gradient(x, 0)]
        return -np.log(f[y]), [-g / f[y] for g in self.output_gradient(x, y)]

    # --- fairness ------------------------------------------------------------------------------

    def quantities(self, x, y):
        """What is constrained: the values, and their gradients with respect to [W, B, Θ], one row for each value."""
        n = self.decisions(x)
        if self.notion == "representation_parity":
            value, gradient = self.loss_and_gradient(x, y)
            return np.array([value]), [g[None] for g in gradient]
        if self.constraint == "output":
            labels = [1] if self.num_labels == 2 else range(self.num_labels)
            gradients = [self.output_gradient(x, label) for label in labels]
            return self.predict(x)[list(labels)], [np.stack(parts) for parts in zip(*gradients, strict=True)]
        if self.constraint == "node":
            values, slopes = n, (n * (1 - n))[:, :, None] * np.eye(n.shape[1])
        else:
            values, slopes = self.leaf_probabilities(n), self.leaf_slopes(n)
        gradients = [np.zeros((*values.shape, *w.shape)) for w in self.weights]  # (tree, node or leaf, …)
        for t in range(self.num_trees):  # what a tree has depends on its own weights alone
            gradients[0][t, :, t] = x[:, None] * slopes[t][:, None, :]
            gradients[1][t, :, t] = slopes[t]
        return values.ravel(), [g.reshape(values.size, *w.shape) for g, w in zip(gradients, self.weights, strict=True)]

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
        values, gradients = self.quantities(x, y)
        for cell in cells:
            count, *means = self.means.get(cell, (0.0, 0.0, [0.0] * 3, 0.0))
            if self.forget == "rows" and self.decay is not None:
                count *= 1 - self.decay
            count += weight
            old_values, old_gradients, old_squares = means
            self.means[cell] = (
                count, old_values + (values - old_values) * weight / count,
                [old + (g - old) * weight / count for old, g in zip(old_gradients, gradients, strict=True)],
                old_squares + (values**2 - old_squares) * weight / count)

    def fairness_gradient(self):
        total = [np.zeros_like(w) for w in self.weights]
        for first, second in self.contrasts():
            if first not in self.means or second not in self.means:
                continue
            (c0, v0, g0, s0), (c1, v1, g1, s1) = self.means[first], self.means[second]
            gaps = v0 - v1
            everybody = (c0 * v0 + c1 * v1) / (c0 + c1)
            variance = (c0 * s0 + c1 * s1) / (c0 + c1) - everybody**2
            error = np.sqrt(np.maximum(variance, 0) * (1 / c0 + 1 / c1))
            gaps = np.sign(gaps) * np.maximum(abs(gaps) - self.chance * error, 0)
            linear = (abs(gaps) >= self.delta) & (not self.l2)
            slopes = np.where(linear, self.slope * np.sign(gaps), gaps)
            for w, a, b in zip(total, g0, g1, strict=True):
                w += self.fairness_weight * np.tensordot(slopes, a - b, 1)
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
