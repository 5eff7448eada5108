"""CivilComments (Jigsaw, 2019): is a comment that names a religion toxic?"""

import os

from aranyani_tf.datasets.embedded import embedded_stream
from aranyani_tf.streams.stream import Stream


def civil_comments(embeddings: str | os.PathLike | None = None, unit_length: bool = True) -> Stream:
    """Comments that name Christians or Muslims, as embeddings of their texts, in file order.

    Source: Borkan et al., "Nuanced Metrics for Measuring Unintended Bias", 2019, through
    tensorflow-datasets (`civil_comments/CivilCommentsIdentities`, training part); licence CC0.
    `make embeddings` encodes the texts by Instructor with the paper's prompt.
    Size: the paper has 33.9 thousand rows; 768 features.
    Label: toxic, 0 or 1 (the paper has 6.6 %). Group: Christian (0) or Muslim (1, 23.4 %). A comment is
    toxic, or about a group, if at least half of its annotators say so; the paper does not tell its
    threshold, so sizes may differ.
    Preprocessing: each row is scaled to length 1, as the encoder gives it.

    Args:
        embeddings: a folder that `make embeddings` filled, or an .npz file with the arrays features,
            labels and groups; None for the folder in the user's cache.
        unit_length: False leaves the rows as they are.
    """
    return embedded_stream("civil_comments", embeddings, title="CivilComments", unit_length=unit_length,
                           label_names=("not toxic", "toxic"), group_names=("Christian", "Muslim"))
