"""COMPAS (ProPublica): will a defendant be charged again?"""

import math

import numpy as np
import pandas as pd

from aranyani_tf.datasets.shipped import Order, in_order, shipped
from aranyani_tf.streams.stream import Stream

FEATURES = ("juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count", "age", "c_charge_degree",
            "c_charge_desc", "age_cat", "sex", "race")
# What is shipped: no names, dates of birth, case numbers, nor any other date by which to find a person.
COLUMNS = (*FEATURES, "decile_score", "score_text", "two_year_recid", "is_recid")


def compas(preprocessing: str = "released", drop_group: bool = False, order: Order = None) -> Stream:
    """ProPublica's two-year recidivism data, in the order in which the paper's authors stream it.

    Source: Larson, Mattu, Kirchner and Angwin, "How We Analyzed the COMPAS Recidivism Algorithm",
    ProPublica, 2016 (`compas-scores-two-years.csv`); public court records of Broward County, published
    without a licence of its own. The file here has neither names nor dates nor case numbers.
    Size: 7,185 of 7,214 rows (29 without a charge description are left out), 10 features.
    Label: is_recid, 0 or 1 (48.0 %). Group: race, "All others" (0, 66.0 %) or "Caucasian" (1).
    Order: a shuffled 70 % of the file, then the other 30 % (scikit-learn's `train_test_split` with
    random_state 42), both used for learning.
    Preprocessing: one of the ways of `aranyani_tf.streams.encoding`; "released" does not scale, and leaves
    the features at sizes from 0 to 436, which costs some ten points of accuracy; "standardized" scales.

    Args:
        preprocessing: "released", "standardized", "one_hot" or "online".
        drop_group: leaves race out of the features.
        order: which rows to take, by number, in this order; all in the order above if None.
    """
    return Stream.from_dataframe(in_order(compas_table(), order), label="is_recid", group="race",
                                 preprocessing=preprocessing, drop_group=drop_group,
                                 scale=preprocessing != "released", name="compas")


def compas_table() -> pd.DataFrame:
    """With two groups, in the order above."""
    frame = pd.read_parquet(shipped("compas.parquet"), columns=[*FEATURES, "is_recid"])
    frame = frame.iloc[released_order(len(frame))]
    frame = frame[frame["c_charge_desc"].notna()]
    return frame.assign(race=np.where(frame["race"] == "Caucasian", "Caucasian", "All others"))


def released_order(num_rows: int) -> np.ndarray:
    """Training rows, then test rows, of `train_test_split(test_size=0.3, random_state=42)`."""
    permutation = np.random.RandomState(42).permutation(num_rows)  # as scikit-learn does
    num_test = math.ceil(0.3 * num_rows)
    return np.concatenate([permutation[num_test:], permutation[:num_test]])
