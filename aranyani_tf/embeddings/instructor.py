"""Texts → sentence embeddings; Instructor (Su et al., 2023) with the paper's prompt for CivilComments."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from aranyani_tf.embeddings.weights import commit_of, load_weights

MODEL = "hkunlp/instructor-large"  # the paper names no size; all have 768 features
PROMPT = "Represent a toxicity comment for classifying its toxicity as toxic or non-toxic:"


class TextEncoder:
    """Callable on a list of texts, gives (text, feature) of unit length.

    Args:
        model: id on the model hub, or a folder with the same files; any sentence-transformers model.
        revision: of the hub's repository; see `weights.load_weights`.
        prompt: what is put before each text, and left out of the pooling, as Instructor was trained: its own
            code strips both and joins them without a space, and so does this.
        max_tokens: longer texts are cut; None leaves it to the model.
    """

    def __init__(self, model: str | os.PathLike = MODEL, revision: str | None = None,
                 prompt: str | None = PROMPT, max_tokens: int | None = None) -> None:
        from sentence_transformers import SentenceTransformer

        if Path(model).is_dir() and not (Path(model) / "modules.json").is_file():
            # The library would build another model from what is there, without a word.
            raise OSError(f"the folder {model} has no modules.json; copy all files of the model's repository, with "
                          "their subfolders")
        self.prompt = prompt and prompt.strip()
        self.model = load_weights(SentenceTransformer, model, revision)
        if prompt:
            # The library does this by itself only for the exact hub ids, not for a folder.
            self.model.set_pooling_include_prompt(False)
        if max_tokens:
            self.model.max_seq_length = max_tokens
        self.facts = {"encoder": str(model), "revision": commit_of(self.model[0].model.config, model, revision),
                      "prompt": self.prompt, "max_tokens": max_tokens}

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        if self.prompt:
            texts = [text.strip() for text in texts]
        # It sorts the texts by length and pads within small batches: many texts a call cost less.
        return self.model.encode(texts, prompt=self.prompt, normalize_embeddings=True, batch_size=16,
                                 show_progress_bar=False)
