"""One soft oblique tree (Definition 2) in float64 NumPy, with its derivatives down to the nodes' logits z.

Nodes are in heap order: the root is 0, the children of j are 2j + 1 (left) and 2j + 2 (right), and the leaves go on
where the nodes end. Everything here is a function of z = w·x̃, where x̃ are the inputs, with a 1 among them if the
nodes have a bias. So ∂z/∂w = x̃, and a bound in z becomes one in w by a factor of B = max ‖x̃‖, or B² for a Hessian.
"""

import numpy as np


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """σ(z), without an overflow on either side.

    >>> sigmoid(np.array([-800.0, 0.0, 800.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    small = np.exp(-np.abs(logits))
    return np.where(logits >= 0, 1.0, small) / (1.0 + small)


def height_of(num_nodes: int) -> int:
    """h, of 2^h − 1 nodes.

    >>> height_of(7)
    3
    """
    return (num_nodes + 1).bit_length() - 1


def reach(decisions: np.ndarray) -> np.ndarray:
    """The probability of coming by: (batch, node) → (batch, node and leaf); each level sums to 1.

    >>> reach(np.array([[0.25, 0.5, 1.0]])).tolist()
    [[1.0, 0.25, 0.75, 0.125, 0.125, 0.75, 0.0]]
    """
    batch, nodes = decisions.shape
    found = np.ones((batch, 2 * nodes + 1))
    for node in range(nodes):
        found[:, 2 * node + 1] = found[:, node] * decisions[:, node]
        found[:, 2 * node + 2] = found[:, node] * (1 - decisions[:, node])
    return found


def leaf_probabilities(decisions: np.ndarray) -> np.ndarray:
    """p_l: (batch, node) → (batch, leaf)."""
    return reach(decisions)[:, decisions.shape[1]:]


def values(decisions: np.ndarray, leaves: np.ndarray) -> np.ndarray:
    """What a sample gets on average once it is there, V: (batch, node) and (leaf,) → (batch, node and leaf).

    The root's value is the tree's output.
    """
    batch, nodes = decisions.shape
    found = np.empty((batch, 2 * nodes + 1))
    found[:, nodes:] = leaves
    for node in reversed(range(nodes)):
        left, right = found[:, 2 * node + 1], found[:, 2 * node + 2]
        found[:, node] = right + decisions[:, node] * (left - right)
    return found


def output(decisions: np.ndarray, leaves: np.ndarray) -> np.ndarray:
    """f = Σ_l p_l θ_l: (batch, node) and (leaf,) → (batch,).

    >>> output(np.array([[0.25]]), np.array([1.0, 0.0])).tolist()
    [0.25]
    """
    return values(decisions, leaves)[:, 0]


def worth(decisions: np.ndarray, leaves: np.ndarray) -> np.ndarray:
    """V_left − V_right of each node: how much its decision matters. (batch, node)"""
    found = values(decisions, leaves)
    return found[:, 1::2] - found[:, 2::2]


def gradient(logits: np.ndarray, leaves: np.ndarray) -> np.ndarray:
    """∂f/∂z_j = reach_j · n_j(1 − n_j) · (V_left − V_right): (batch, node)."""
    n = sigmoid(logits)
    return reach(n)[:, : n.shape[1]] * n * (1 - n) * worth(n, leaves)


def hessian(logits: np.ndarray, leaves: np.ndarray) -> np.ndarray:
    """∂²f/∂z_j∂z_k: (batch, node, node).

    On the diagonal σ″ takes the place of σ′. Off it, only an ancestor j and a node k below it meet: k's derivative is
    in proportion to its reach, of which n_j or 1 − n_j is a factor. Its logarithm has the derivative 1 − n_j or −n_j.
    """
    n = sigmoid(logits)
    first = gradient(logits, leaves)
    batch, nodes = n.shape
    found = np.zeros((batch, nodes, nodes))
    for node in range(nodes):
        found[:, node, node] = first[:, node] * (1 - 2 * n[:, node])
        below, parent = node, (node - 1) // 2
        while below > 0:
            went_left = below == 2 * parent + 1
            share = (1 - n[:, parent]) if went_left else -n[:, parent]
            found[:, parent, node] = found[:, node, parent] = first[:, node] * share
            below, parent = parent, (parent - 1) // 2
    return found
