"""ACS Employment, Massachusetts: is a person at work?"""

import pandas as pd

from aranyani_tf.arguments import require_choice
from aranyani_tf.datasets.packaged import package_members
from aranyani_tf.datasets.shipped import Order, in_order
from aranyani_tf.streams.stream import Stream

PACKAGE = ("nannyml==0.13.1", "cf5f4a33489834ae6773cb1baa33a0f98c0a3ee6ed9b43049478b25ce22fe869")
FOLDER = "nannyml/datasets/data/employment_MA_"
MEMBERS = {
    f"{FOLDER}reference.pq": "21d0e33655666071bde9ed21bf35b24fe14c1476e3dd37a5194b827ad5a570e4",
    f"{FOLDER}analysis.pq": "591328bcf7e46139660f2cc6b1705a6f2f66edf2418ce2a893cf2892be3f66a7",
    f"{FOLDER}analysis_target.pq": "c306840f0c092bda7608a09e61e7e715ac2b7fb2d17da8062900c3ecd6fdbe30",
}
# The survey's names of the columns, and of their codes, that can be the group.
GROUPS = {
    "race": ("RAC1P", {"1": "White", "2": "Black", "3": "American Indian", "4": "Alaska Native",
                       "5": "American Indian or Alaska Native", "6": "Asian",
                       "7": "Hawaiian or Pacific Islander", "8": "Some other race", "9": "Two or more races"}),
    "sex": ("SEX", {"1": "Male", "2": "Female"}),
    "disability": ("DIS", {"1": "Disabled", "2": "Not disabled"}),
}
NOT_FEATURES = ("id", "year", "prediction", "predicted_probability")


def acs_employment(groups: str = "race", preprocessing: str = "one_hot", drop_group: bool = False,
                   order: Order = None) -> Stream:
    """Answers of people in Massachusetts to the American Community Survey, 2015 to 2018, by year.

    Nine groups by race, four of them with some hundred rows or less: what a method does to small groups
    shows here.

    Source: US Census Bureau, American Community Survey, Public Use Microdata Sample, as the task
    ACSEmployment of Ding, Hardt, Miller and Schmidt, "Retiring Adult", 2021, has it; out of the package
    nannyml 0.13.1. Licence: the Census Bureau's terms of service, says folktables, by which the package's
    authors got the data; we could not read those terms, and found no licence beside the files.
    It is fetched on first use (23 MB) and kept in the user's cache.
    Size: 277,677 rows, 16 features (98 with one-hot categories). The row's number, the year, and the
    predictions of a model that come with the file are left out.
    Label: employed, 0 or 1 (50.1 %). Group: "race", nine, in the order of their names, the largest
    White (81.6 %), the smallest Alaska Native (6 rows); "sex", female (0, 51.9 %) or male (1);
    "disability", disabled (0, 13.5 %, of whom 19 % are employed, of the others 55 %) or not (1).
    Preprocessing: one of the ways of `aranyani_tf.streams.encoding`. Age is a number, the other columns are
    codes of categories, and treated so.

    Args:
        groups: "race", "sex" or "disability".
        preprocessing: "one_hot", "released", "standardized" (here the same) or "online".
        drop_group: leaves the group's column out of the features.
        order: which rows to take, by number, in this order; all in the order above if None.
    """
    require_choice("groups", groups, tuple(GROUPS))
    return Stream.from_dataframe(
        in_order(acs_employment_table(groups), order), label="employed", group=GROUPS[groups][0],
        preprocessing=preprocessing, exclude=NOT_FEATURES, drop_group=drop_group, num_groups=None,
        name="acs_employment")


def acs_employment_table(groups: str = "race") -> pd.DataFrame:
    """With names in the group's column."""
    reference, analysis, target = map(pd.read_parquet, package_members(*PACKAGE, MEMBERS))
    frame = pd.concat([reference, analysis.merge(target, on="id", validate="one_to_one")], ignore_index=True)
    column, names = GROUPS[groups]
    frame[column] = frame[column].astype(str).map(names)
    return frame
