"""Adult (UCI): does a person earn more than 50,000 dollars a year?"""

import pandas as pd

from aranyani_tf.datasets.shipped import Order, in_order, shipped
from aranyani_tf.streams.stream import Stream

COLUMNS = ("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
           "relationship", "race", "gender", "capital-gain", "capital-loss", "hours-per-week",
           "native-country", "income")


def adult(preprocessing: str = "released", drop_group: bool = False, order: Order = None) -> Stream:
    """UCI Adult, the training file in its own order: what the paper streams.

    Source: Becker and Kohavi, "Adult", UCI Machine Learning Repository, 1996; licence CC BY 4.0.
    Size: 32,561 rows, 14 features (108 with one-hot categories).
    Label: income, "<=50K" (0) or ">50K" (1, 24.1 %). Group: gender, "Female" (0) or "Male" (1, 66.9 %).
    Preprocessing: one of the ways of `aranyani_tf.streams.encoding`. "?" is a category like any other, as in
    the authors' released code, whose merging of the marital statuses has no effect and is not done.

    Args:
        preprocessing: "released", "standardized" (here the same), "one_hot" or "online".
        drop_group: leaves gender out of the features.
        order: which rows to take, by number, in this order; all in the order above if None.
    """
    frame = in_order(adult_table(), order)
    return Stream.from_dataframe(frame, label="income", group="gender", preprocessing=preprocessing,
                                 drop_group=drop_group, name="adult")


def adult_table() -> pd.DataFrame:
    return pd.read_parquet(shipped("adult.parquet"))
