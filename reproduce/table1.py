"""`make table1`: rows, label split and group split of each dataset, beside the paper's Table 1."""

import quiet  # noqa: F401

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

import aranyani_tf as ar
from aranyani_tf.files import whole_file
from harness import RESULTS
from harness.provenance import Clock, write_environment

# (thousands of rows, share of the more frequent label in %, share of the larger group in %)
PAPER = {"adult": (32.5, 75.9, 66.9), "census": (199.5, 93.8, 52.1), "compas": (7.2, 52.0, 66.0),
         "celeba": (202.6, 85.2, 58.3), "civil_comments": (33.9, 93.4, 76.6)}


def facts(stream):
    """Size and splits of a stream: shares in percent, the larger part first."""
    label, group = (np.bincount(column).max() / len(stream) * 100 for column in (stream.labels, stream.groups))
    return {"rows": len(stream), "features": stream.num_features, "majority_label_percent": label,
            "minority_label_percent": 100 - label, "majority_group_percent": group,
            "minority_group_percent": 100 - group}


def table(options):
    """One row per dataset that is here, and a sentence about each that is not."""
    rows, absent = [], []
    for name, loading in options.items():
        try:
            stream = ar.datasets.load(name, **loading)
        except FileNotFoundError as error:
            if loading.get("embeddings"):
                raise SystemExit(str(error)) from error
            absent.append(f"{name} is not here. {error}")
            continue
        thousands, label, group = PAPER.get(name, (None, None, None))
        rows.append({"dataset": stream.name, **facts(stream), "paper_thousand_rows": thousands,
                     "paper_majority_label_percent": label, "paper_majority_group_percent": group})
    return pd.DataFrame(rows), absent


def printed(frame):
    """The table as the paper lays it out, its own figures in brackets."""
    def split(row, what):
        paper = row[f"paper_majority_{what}_percent"]
        beside = "" if np.isnan(paper) else f"  ({paper:.1f}/{100 - paper:.1f})"
        return f"{row[f'majority_{what}_percent']:.1f}/{row[f'minority_{what}_percent']:.1f}{beside}"

    def size(row):
        paper = row["paper_thousand_rows"]
        return f"{row['rows']:,}" + ("" if np.isnan(paper) else f"  ({paper}K)")

    return pd.DataFrame({"dataset": frame["dataset"], "size (paper)": frame.apply(size, axis=1),
                         "split of labels (paper)": frame.apply(split, axis=1, what="label"),
                         "split of groups (paper)": frame.apply(split, axis=1, what="group")}).to_string(index=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--celeba", metavar="PATH", help="embeddings of CelebA: folder or .npz")
    parser.add_argument("--civil-comments", metavar="PATH", help="embeddings of CivilComments: folder or .npz")
    parser.add_argument("--output", type=Path, default=RESULTS / "table1.csv")
    options, clock = parser.parse_args(), Clock()
    frame, absent = table({"adult": {}, "census": {}, "compas": {}, "celeba": {"embeddings": options.celeba},
                           "civil_comments": {"embeddings": options.civil_comments}, "wiki_toxicity": {}})
    with whole_file(options.output, "w") as file:
        frame.to_csv(file, index=False, float_format="%.4f")
    write_environment(options.output.parent / "environment.json", [options.output.stem], clock)
    print(printed(frame))
    for sentence in absent:
        print(f"\n{sentence}")
    print(f"\n→ {options.output}")


if __name__ == "__main__":
    main()
