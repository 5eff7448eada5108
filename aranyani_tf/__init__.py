"""Aranyani: group fairness in online learning with oblique decision forests, for Keras."""

import keras

if keras.config.backend() != "tensorflow":
    raise ImportError(
        f"aranyani_tf needs Keras on TensorFlow, but the backend is {keras.config.backend()!r}: "
        "unset KERAS_BACKEND or set it to 'tensorflow' before Keras is imported")

from aranyani_tf import datasets, errors
from aranyani_tf.baselines import fermi, reservoir  # noqa: F401  so that Keras can load their models
from aranyani_tf.control.group_thresholds import GroupThresholds
from aranyani_tf.control.parity_target import ParityTarget
from aranyani_tf.evaluation.learn_stream import learn_stream
from aranyani_tf.evaluation.metrics import register_metric
from aranyani_tf.evaluation.monitor import FairnessMonitor
from aranyani_tf.fairness.constraints import register_constraint
from aranyani_tf.fairness.notions import (
    DemographicParity,
    EqualizedOdds,
    EqualOpportunity,
    Notion,
    RepresentationParity,
)
from aranyani_tf.fairness.penalties import L2, Huber
from aranyani_tf.forest.oblique_forest import ObliqueForest
from aranyani_tf.grove import Grove
from aranyani_tf.model.aranyani import Aranyani
from aranyani_tf.model.loading import load_model
from aranyani_tf.model.recommended import recommended
from aranyani_tf.streams.stream import Stream
from aranyani_tf.tabular.tabular_model import TabularModel

__version__ = "0.1.0"
__all__ = [
    "L2",
    "Aranyani",
    "DemographicParity",
    "EqualOpportunity",
    "EqualizedOdds",
    "FairnessMonitor",
    "GroupThresholds",
    "Grove",
    "Huber",
    "Notion",
    "ObliqueForest",
    "ParityTarget",
    "RepresentationParity",
    "Stream",
    "TabularModel",
    "datasets",
    "errors",
    "learn_stream",
    "load_model",
    "recommended",
    "register_constraint",
    "register_metric",
]
