"""CelebA and CivilComments, read through tensorflow-datasets in a fixed order."""

from collections.abc import Iterator
from typing import Any

from aranyani_tf.embeddings.job import Example, Examples

CELEBA_SPLITS = "train+validation+test"  # the paper learns from all of CelebA
COMMENTS_SPLIT = "train"


def celeba_examples(data_dir: str | None = None) -> tuple[Examples, int, str]:
    """(examples, num_rows, name): images with label blond hair and group male, of `celeb_a`."""
    builder = prepared("celeb_a", data_dir)

    def examples(start: int) -> Iterator[Example]:
        for row in rows_of(builder, CELEBA_SPLITS, skip=start):
            yield row["image"], int(row["attributes"]["Blond_Hair"]), int(row["attributes"]["Male"])

    num_rows = sum(builder.info.splits[split].num_examples for split in CELEBA_SPLITS.split("+"))
    return examples, num_rows, f"{builder.info.full_name} {CELEBA_SPLITS}"


def civil_comments_examples(data_dir: str | None = None,
                            threshold: float = 0.5) -> tuple[Examples, None, str]:
    """(examples, None, name): comments that name Christians or Muslims, and not both.

    Label: toxic, a share of at least `threshold` of the annotators. Group: Christian (0) or Muslim
    (1), by the same share. The paper does not tell its threshold.
    """
    builder = prepared("civil_comments/CivilCommentsIdentities", data_dir)

    def examples(start: int) -> Iterator[Example]:
        met = 0
        for row in rows_of(builder, COMMENTS_SPLIT):
            christian, muslim = row["christian"] >= threshold, row["muslim"] >= threshold
            if christian == muslim:
                continue
            met += 1
            if met > start:
                yield row["text"].decode(), int(row["toxicity"] >= threshold), int(muslim)

    return examples, None, f"{builder.info.full_name} {COMMENTS_SPLIT}, threshold {threshold}"


def prepared(name: str, data_dir: str | None) -> Any:
    """The dataset's builder; downloads and prepares the data the first time."""
    import tensorflow_datasets as tfds

    builder = tfds.builder(name, data_dir=data_dir)
    try:
        builder.download_and_prepare()
    except Exception as error:  # network, quota, checksums: many kinds, one way out
        raise OSError(
            f"{name} is not at {builder.data_path} and could not be downloaded. On a machine with a network, run "
            f"`python -c \"import tensorflow_datasets as tfds; tfds.builder('{name}').download_and_prepare()\"`, "
            f"and copy the folder {builder.data_path.name} that it makes to {builder.data_path}. "
            f"tensorflow-datasets said: {error}") from error
    return builder


def rows_of(builder: Any, split: str, skip: int = 0) -> Iterator[dict[str, Any]]:
    """Rows as NumPy values, always in the same order."""
    import tensorflow_datasets as tfds

    # One file after the other; the default reads sixteen at a time.
    config = tfds.ReadConfig(interleave_cycle_length=1)
    dataset = builder.as_dataset(split=split, shuffle_files=False, read_config=config)
    return dataset.skip(skip).as_numpy_iterator()
