"""Experiments that measure how large the fairness gradient is, layer by layer from the input to the output."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import tensorflow as tf

import aranyani_tf as ar
from aranyani_tf.evaluation.learn_stream import learn_stream
from harness.experiments import Experiment, Member
from harness.registry import Method


@dataclass(frozen=True)
class DepthExperiment(Experiment):
    """Adds `norm_1`, `norm_2`, …: of the gradient of λ Σ H(F) for one unit of each layer, at every checkpoint.

    A forest's layers are the depths of its nodes, of which the first are the roots; a network's are its kernels. A
    unit is a node, or a hidden or output unit; its norm is the root mean square over the units of its layer.
    """

    def learned(self, stream: ar.Stream, how: Method, on_chunk: Callable | None,
                on_record: Callable | None) -> pd.DataFrame:
        def run(member: Member) -> pd.DataFrame:
            probe = Probe(self.single(stream, **member), self.checkpoints(stream))
            records = learn_stream(probe, stream, checkpoints=probe.checkpoints, on_chunk=on_chunk)
            return records.merge(pd.DataFrame(probe.norms), on="step").assign(**member)

        return self.one_by_one(run)


class Probe:
    """A model whose fairness gradient is looked at after each of the checkpoints."""

    def __init__(self, model: ar.Aranyani, checkpoints: list[int]):
        self.model, self.checkpoints, self.num_seen = model, checkpoints, 0
        self.norms: list[dict[str, Any]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def predict_then_learn(self, x: np.ndarray, y: np.ndarray, a: np.ndarray) -> np.ndarray:
        stops = [step - self.num_seen for step in self.checkpoints if self.num_seen < step < self.num_seen + len(y)]
        outputs = []
        for start, end in zip([0, *stops], [*stops, len(y)], strict=True):
            outputs.append(self.model.predict_then_learn(x[start:end], y[start:end], a[start:end]))
            self.num_seen += end - start
            if self.num_seen in self.checkpoints:
                self.norms.append({"step": self.num_seen} | self.by_layer(x[:1], y[:1], a[:1]))
        return np.concatenate(outputs)

    def by_layer(self, x: np.ndarray, y: np.ndarray, a: np.ndarray) -> dict[str, float]:
        """The norms as they stand. The gradient is one of running means, so that it is the same for any row."""
        model, step = self.model, self.model.step
        model.learner.load()
        inputs = model.learner.prepare(tf.constant(x, model.compute_dtype))
        labels, groups = tf.constant(y, tf.int32), tf.constant(a, tf.int32)
        weights, state = ([variable.value for variable in each]
                          for each in (model.learner.variables, model.learner.state))
        trace = step.learner.trace(weights, state, inputs, labels, step.constraint.quantities)
        membership = step.objective.membership(labels, groups, trace.said)
        gradients = step.constraint.fairness_gradients(model.statistics.read(), trace, membership,
                                                       tf.constant(model.fairness_weight, model.compute_dtype))
        return {f"norm_{number}": float(np.sqrt(np.mean(np.sum(np.square(layer), axis=0))))
                for number, layer in enumerate(self.layers(gradients), start=1)}

    def layers(self, gradients: list) -> list[np.ndarray]:
        """The kernels' gradients from the input to the output, each (input, unit)."""
        if not hasattr(self.model.learner, "forest"):
            return [np.asarray(gradient) for gradient in gradients if len(gradient.shape) == 2]
        forest, num_packed = self.model.forest, self.model.learner.num_packed
        rest = [tf.zeros_like(variable.value) for variable in self.model.learner.variables[len(gradients):num_packed]]
        kernel = self.model.learner.unpack([*gradients, *rest])[0].numpy()  # (tree, feature, node)
        ends = [2**depth - 1 for depth in range(forest.height + 1)]
        return [kernel[:, :, start:end].swapaxes(0, 1).reshape(kernel.shape[1], -1)
                for start, end in itertools.pairwise(ends)]
