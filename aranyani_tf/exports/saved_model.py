"""A SavedModel that predicts and goes on learning: TensorFlow alone can load it, and needs nothing of this package.

    served = tf.saved_model.load(folder)
    served.predict(x)["probabilities"]                 # (row, label); so does the signature "serving_default"
    served.learn(x, labels, groups)["probabilities"]   # what it said before it learned
    served.set_fairness_weight(0.5)                    # λ, which is served.fairness_weight[0]

Weights, optimizer, running means and λ are variables of what was loaded, and learning moves them there;
`tf.saved_model.save(served, other_folder, signatures=served.signatures)` keeps them, and
`model.set_weights([weight.numpy() for weight in served.weights])` brings them home. The rows are taken one by one by
TensorFlow's step, as `compile(engine="xla")` does; metrics are not kept. Rows that cannot be used raise TensorFlow's
InvalidArgumentError, and nothing is learned.
"""

import warnings
from pathlib import Path

import keras
import tensorflow as tf

from aranyani_tf.exports.exportable import Exportable, answer_name, answering, features_spec
from aranyani_tf.streams.row_rules import LARGEST, SIZE

LEARNING = ("learn_rows", "learn_and_score", "train_step")  # who defines one anew learns in a way that is not exported


def write_saved_model(model: Exportable, folder: Path | str) -> None:
    archive = keras.export.ExportArchive()
    features = features_spec(model)
    # Keras's name for what gives the bare answers, then what TensorFlow Serving asks for, then ours.
    archive.add_endpoint("serve", lambda features: model(features, training=False), [features])
    for name in ("serving_default", "predict"):
        archive.add_endpoint(name, answering(model), [features])
    own = model.own_method(*LEARNING)
    if own is None:
        add_learning(archive, model, features)
    else:
        warnings.warn(f"{type(model).__name__} has a {own} of its own, so the SavedModel predicts but does not learn",
                      stacklevel=5)
    archive.add_variable_collection("weights", model.weights)  # in the order of model.get_weights()
    archive.write_out(str(folder), verbose=False)


def add_learning(archive: keras.export.ExportArchive, model: Exportable, features: tf.TensorSpec) -> None:
    """The signatures `learn` and `set_fairness_weight`, and the variables that these move."""
    # TensorFlow begins with whatever has its inputs, assertions or not: what has to wait for one says so.
    def learn(features: tf.Tensor, labels: tf.Tensor, groups: tf.Tensor) -> dict[str, tf.Tensor]:
        with tf.control_dependencies(checks(model, features, labels, groups)):
            said, good = model.learn_any(features, labels, groups)
        put_back = [tf.identity(variable.value) for variable in model.moving()]
        with tf.control_dependencies(put_back):
            tf.debugging.Assert(good, ["the model has diverged in these rows, and was left as it was before. Try "
                                       "features of a moderate size, or a smaller learning rate or fairness weight"])
        return {answer_name(model): said}

    def set_fairness_weight(fairness_weight: tf.Tensor) -> dict[str, tf.Tensor]:
        usable = tf.math.is_finite(fairness_weight) & (fairness_weight >= 0)
        with tf.control_dependencies([tf.debugging.Assert(usable, [
                "fairness_weight must be a finite number of at least 0, got", fairness_weight])]):
            return {"fairness_weight": tf.identity(model._fairness_weight.assign(fairness_weight))}

    labels = tf.TensorSpec((None,), model.compute_dtype if model.num_labels == 1 else "int32", name="labels")
    archive.add_endpoint("learn", learn, [features, labels, tf.TensorSpec((None,), "int32", name="groups")])
    archive.add_endpoint("set_fairness_weight", set_fairness_weight,
                         [tf.TensorSpec((), model.compute_dtype, name="fairness_weight")])
    archive.add_variable_collection("optimizer_weights", model.optimizer.variables)
    archive.add_variable_collection("fairness_weight", [model._fairness_weight])


def checks(model: Exportable, features: tf.Tensor, labels: tf.Tensor, groups: tf.Tensor) -> list[tf.Operation]:
    """Raise, before anything is learned, on rows that `predict_then_learn` would refuse."""
    num_rows = tf.shape(features)[0]
    found = [
        tf.debugging.Assert((num_rows > 0) & (tf.shape(labels)[0] == num_rows) & (tf.shape(groups)[0] == num_rows), [
            "features, labels and groups must have as many rows as each other, and at least one; they have",
            num_rows, tf.shape(labels)[0], tf.shape(groups)[0]]),
        tf.debugging.Assert(tf.reduce_all(tf.abs(features) < LARGEST), [f"every feature must be {SIZE}"]),
        tf.debugging.Assert(tf.reduce_all((groups >= -1) & (groups < model.num_groups)), [
            f"groups must be from 0 to {model.num_groups - 1}, or -1 where they are missing; got", groups])]
    if model.num_labels > 1:
        found.append(tf.debugging.Assert(tf.reduce_all((labels >= -1) & (labels < model.num_labels)), [
            f"labels must be from 0 to {model.num_labels - 1}, or -1 where they are missing; got", labels]))
    else:
        found.append(tf.debugging.Assert(~tf.reduce_any(tf.abs(labels) >= LARGEST), [
            f"every label must be {SIZE}, or NaN where it is missing; got", labels]))
    return found
