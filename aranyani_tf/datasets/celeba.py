"""CelebA (Liu et al., 2015): does a celebrity have blond hair?"""

import os

from aranyani_tf.datasets.embedded import embedded_stream
from aranyani_tf.streams.stream import Stream


def celeba(embeddings: str | os.PathLike | None = None, unit_length: bool = True) -> Stream:
    """CelebA as embeddings of its images, in the order of its training, validation and test parts.

    Source: Liu, Luo, Wang and Tang, "Deep Learning Face Attributes in the Wild", 2015, through
    tensorflow-datasets (`celeb_a`). Licence: research only, no redistribution; so neither images nor
    features come with this package. `make embeddings` encodes the images by CLIP.
    Size: 202,599 rows, 512 features by CLIP's base model; a file of one's own may have others.
    Label: Blond_Hair, 0 or 1 (14.8 %). Group: Male, 0 or 1 (41.7 %).
    Preprocessing: each row is scaled to length 1.

    Args:
        embeddings: a folder that `make embeddings` filled, or an .npz file with the arrays features,
            labels and groups; None for the folder in the user's cache.
        unit_length: False leaves the rows as they are.
    """
    return embedded_stream("celeba", embeddings, title="CelebA", unit_length=unit_length,
                           label_names=("not blond", "blond"), group_names=("female", "male"))
