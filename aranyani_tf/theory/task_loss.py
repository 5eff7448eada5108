"""Cross-entropy of a soft tree whose leaves are softmax(Θ_l), as the model here has them, and its gradient.

With p_l the probability of a leaf and q_l its probability of the label, the loss is −log Σ_l p_l q_l. Its gradient is
told by the *posterior* of the leaves, r_l = p_l q_l / Σ p q: where the sample was, now that its label is known.
"""

import numpy as np

from aranyani_tf.theory.soft_tree import leaf_probabilities, sigmoid


def softmax(logits: np.ndarray) -> np.ndarray:
    """Over the last axis."""
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def cross_entropy(logits: np.ndarray, leaf_logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """−log f_y: logits (batch, node), leaf logits (leaf, label), labels (batch,) → (batch,)."""
    probabilities = leaf_probabilities(sigmoid(logits)) @ softmax(leaf_logits)  # (batch, label)
    return -np.log(probabilities[np.arange(len(labels)), labels])


def cross_entropy_gradient(logits: np.ndarray, leaf_logits: np.ndarray,
                           labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """∂loss/∂z_j = n_j r_j − r_left(j) and ∂loss/∂Θ_l = r_l (q_l − e_y): (batch, node) and (batch, leaf, label).

    r_j is the posterior of passing node j, the sum over the leaves below it.
    """
    n, by_label = sigmoid(logits), softmax(leaf_logits)
    nodes = n.shape[1]
    joint = leaf_probabilities(n) * by_label.T[labels]  # (batch, leaf)
    posterior = np.empty((len(labels), 2 * nodes + 1))
    posterior[:, nodes:] = joint / joint.sum(axis=1, keepdims=True)
    for node in reversed(range(nodes)):
        posterior[:, node] = posterior[:, 2 * node + 1] + posterior[:, 2 * node + 2]
    in_logits = n * posterior[:, :nodes] - posterior[:, 1::2]
    wrong = by_label[None] - np.eye(by_label.shape[1])[labels][:, None]  # (batch, leaf, label)
    return in_logits, posterior[:, nodes:, None] * wrong
