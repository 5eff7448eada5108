"""Images → CLIP's image embeddings (Radford et al., 2021), as the paper uses them for CelebA."""

import os
from collections.abc import Sequence

import numpy as np

from aranyani_tf.embeddings.weights import commit_of, load_weights

MODEL = "openai/clip-vit-base-patch32"  # the paper names no size; this is CLIP's most used one


class ClipEncoder:
    """Callable on a list of images (height, width, 3; uint8), gives (image, feature).

    Args:
        model: id on the model hub, or a folder with the same files.
        revision: of the hub's repository; see `weights.load_weights`.
    """

    def __init__(self, model: str | os.PathLike = MODEL, revision: str | None = None) -> None:
        import torch
        from transformers import AutoImageProcessor, CLIPVisionModelWithProjection
        from transformers.utils import logging

        self.torch = torch
        self.processor = load_weights(AutoImageProcessor.from_pretrained, model, revision)
        verbosity = logging.get_verbosity()
        logging.set_verbosity_error()  # it would list every weight of the text side, which is not wanted here
        try:
            self.model = load_weights(CLIPVisionModelWithProjection.from_pretrained, model, revision).eval()
        finally:
            logging.set_verbosity(verbosity)
        self.facts = {"encoder": str(model), "revision": commit_of(self.model.config, model, revision),
                      "prompt": None}

    def __call__(self, images: Sequence[np.ndarray]) -> np.ndarray:
        pixels = self.processor(images=[np.asarray(image) for image in images], return_tensors="pt")
        with self.torch.inference_mode():
            return self.model(**pixels).image_embeds.numpy()
