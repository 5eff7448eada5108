"""An independent reference for the baselines: float64 NumPy, every gradient by central differences.

It shares no code with the library, and differentiates nothing by rule.
"""

import numpy as np

from reference import BETA_1, BETA_2, LEARNING_RATE, Reference, sigmoid

STEP = 1e-5


def softmax(z):
    e = np.exp(z - z.max())
    return e / e.sum()


def perceptron(weights, x):
    first, first_bias, second, second_bias = weights
    return softmax(np.maximum(x @ first + first_bias, 0) @ second + second_bias)


def linear(weights, x):
    return softmax(x @ weights[0] + weights[1])


def forest(weights, x):
    tree = Reference(*weights, fairness_weight=0)
    return tree.predict(x)


def huber_slope(gap, delta=0.01, slope=1.0):
    return gap if abs(gap) < delta else slope * np.sign(gap)


class ByDifferences:
    """Learns one sample a step; `fairness` (x, y, a) → gradients, called after the task gradient is known."""

    def __init__(self, probabilities, weights):
        self.probabilities = probabilities
        self.weights = [np.array(weight, "float64") for weight in weights]
        self.first, self.second = ([np.zeros_like(weight) for weight in self.weights] for _ in range(2))
        self.time = 0

    def gradient(self, function):
        """Of a function of the weights, by moving each of their numbers up and down."""
        gradients = []
        for weight in self.weights:
            gradient = np.zeros((weight.size, *np.shape(function())))
            flat = weight.reshape(-1)
            for entry in range(weight.size):
                kept = flat[entry]
                flat[entry] = kept + STEP
                up = function()
                flat[entry] = kept - STEP
                gradient[entry] = (up - function()) / (2 * STEP)
                flat[entry] = kept
            gradients.append(gradient.reshape(*weight.shape, *gradient.shape[1:]))
        return gradients

    def learn(self, x, y, a):
        """The probabilities of a sample; then Adam's step."""
        said = self.probabilities(self.weights, x)
        slopes = self.gradient(lambda: self.probabilities(self.weights, x))  # (…weight, label)
        task = [-slope[..., y] / said[y] for slope in slopes]
        fairness = self.fairness(x, said, slopes, a)
        self.time += 1
        rate = LEARNING_RATE * np.sqrt(1 - BETA_2**self.time) / (1 - BETA_1**self.time)
        for index, weight in enumerate(self.weights):
            total = task[index] + fairness[index]
            self.first[index] += (total - self.first[index]) * (1 - BETA_1)
            self.second[index] += (total**2 - self.second[index]) * (1 - BETA_2)
            weight -= rate * self.first[index] / (np.sqrt(self.second[index]) + 1e-7)
        return said

    def run(self, stream):
        return np.array([self.learn(x, y, a) for x, y, a in zip(
            stream.features.astype("float64"), stream.labels, stream.groups, strict=True)])


class OutputLevel(ByDifferences):
    """Running means of f and ∇f per group (the paper's MLP baseline)."""

    def __init__(self, *arguments, fairness_weight):
        super().__init__(*arguments)
        self.fairness_weight, self.means = fairness_weight, {}

    def fairness(self, x, said, slopes, a):
        count, value, gradients = self.means.get(a, (0, 0.0, [0.0] * len(slopes)))
        count += 1
        value += (said[1] - value) / count
        gradients = [mean + (slope[..., 1] - mean) / count for mean, slope in zip(gradients, slopes, strict=True)]
        self.means[a] = count, value, gradients
        if len(self.means) < 2:
            return [0.0] * len(slopes)
        (_, zero, zero_gradients), (_, one, one_gradients) = self.means[0], self.means[1]
        slope = self.fairness_weight * huber_slope(zero - one)
        return [slope * (g0 - g1) for g0, g1 in zip(zero_gradients, one_gradients, strict=True)]


class FermiReference(ByDifferences):
    """ψ as a trace of matrices, as its authors write it."""

    def __init__(self, *arguments, fairness_weight, rate=0.001):
        super().__init__(*arguments)
        self.fairness_weight, self.rate = fairness_weight, rate
        self.matrix, self.counts = np.zeros((2, 2)), np.zeros(2)

    def psi(self, said, a):
        one_hot, root = np.eye(2)[a], np.diag(1 / np.sqrt(np.maximum(self.counts / self.counts.sum(), 1e-12)))
        quadratic = np.trace(self.matrix @ np.diag(said) @ self.matrix.T)
        return -quadratic + 2 * np.trace(self.matrix @ np.outer(said, one_hot) @ root) - 1

    def fairness(self, x, said, slopes, a):
        self.counts[a] += 1
        ascent = np.zeros_like(self.matrix)
        for entry in np.ndindex(2, 2):
            values = []
            for sign in (1, -1):
                self.matrix[entry] += sign * STEP
                values.append(self.psi(said, a))
                self.matrix[entry] -= sign * STEP
            ascent[entry] = (values[0] - values[1]) / (2 * STEP)
        self.matrix += self.rate * ascent
        return [self.fairness_weight * slope for slope in self.gradient(
            lambda: self.psi(self.probabilities(self.weights, x), a))]


class ReservoirReference(ByDifferences):
    """Every sample is stored; the gaps of all nodes are those of the present weights."""

    def __init__(self, *arguments, fairness_weight, delta=0.01):
        super().__init__(*arguments)
        self.fairness_weight, self.delta, self.stored = fairness_weight, delta, {0: [], 1: []}

    def penalty(self):
        kernel, bias, _ = self.weights
        means = [sigmoid(np.einsum("sf,tfn->stn", np.array(self.stored[a]), kernel) + bias).mean(axis=0)
                 for a in (0, 1)]
        gap = np.abs(means[0] - means[1])
        return np.where(gap < self.delta, gap**2 / 2, self.delta * (gap - self.delta / 2)).sum()

    def fairness(self, x, said, slopes, a):
        self.stored[a].append(x)
        if not (self.stored[0] and self.stored[1]):
            return [0.0] * len(slopes)
        return [self.fairness_weight * gradient for gradient in self.gradient(self.penalty)]
