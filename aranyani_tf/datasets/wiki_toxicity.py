"""Wikipedia Talk toxicity: is a comment on a discussion page toxic?"""

import numpy as np

from aranyani_tf.arguments import require_choice
from aranyani_tf.datasets.shipped import shipped
from aranyani_tf.streams.stream import Stream

GROUPS = {"author": ("registered", "anonymous"), "religion": ("Christian", "Muslim")}


def wiki_toxicity(groups: str = "author") -> Stream:
    """Comments of Wikipedia's discussion pages as text embeddings, in the order of time.

    It stands in for CivilComments where that cannot be had: the same task on other texts.

    Source: Wulczyn, Thain and Dixon, "Wikipedia Talk Labels: Toxicity", 2017, encoded by
    all-mpnet-base-v2. Licences: CC0 (labels), CC BY-SA 3.0 (the comments, of which only embeddings
    are here), Apache 2.0 (the encoder).
    Size: 14,000 rows ("author") or 3,532 rows ("religion"), 768 features.
    Label: toxic, if the annotators' mean says so (11.7 % and 12.6 %).
    Group: "author": registered (0) or anonymous (1, 21.6 %); a random sample of all comments.
    "religion": naming Christian (0) or Muslim (1, 31.4 %) terms and not both.
    Preprocessing: unit length, then whole numbers of a tenth of each feature's deviation;
    `data/README.md` tells what that costs.

    Args:
        groups: "author" or "religion".
    """
    require_choice("groups", groups, tuple(GROUPS))
    name = "wiki_toxicity" if groups == "author" else f"wiki_toxicity_{groups}"
    with np.load(shipped(f"wiki_toxicity_{groups}.npz"), allow_pickle=False) as archive:
        return Stream(dequantised(archive["codes"], archive["center"], archive["step"]), archive["labels"],
                      archive["groups"], name=name, label_names=("not toxic", "toxic"),
                      group_names=GROUPS[groups])


def quantised(features: np.ndarray,
              steps_per_deviation: int = 10) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(codes, center, step): int8 codes, with a step of a tenth of each feature's deviation."""
    center = features.mean(axis=0, dtype="float64").astype("float32")
    step = (features.std(axis=0, dtype="float64") / steps_per_deviation).astype("float32")
    return np.clip(np.rint((features - center) / step), -127, 127).astype("int8"), center, step


def dequantised(codes: np.ndarray, center: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Features of unit length."""
    features = center + codes.astype("float32") * step
    return features / np.linalg.norm(features, axis=1, keepdims=True)
