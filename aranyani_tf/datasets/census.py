"""Census-Income (KDD): does a person earn more than 50,000 dollars a year?"""

import pandas as pd

from aranyani_tf.datasets.shipped import Order, in_order, shipped
from aranyani_tf.streams.stream import Stream

COLUMNS = (
    "age", "class_of_worker", "industry_code", "occupation_code", "education", "wage_per_hour",
    "enrolled_in_school", "marital_status", "major_industry", "major_occupation", "race", "hispanic_origin",
    "sex", "union_member", "unemployment_reason", "employment_status", "capital_gains", "capital_losses",
    "dividends", "tax_filer_status", "previous_region", "previous_state", "household_and_family",
    "household_summary", "instance_weight", "migration_msa", "migration_region", "migration_within_region",
    "same_house", "previous_sunbelt", "num_persons_employer", "family_under_18", "country_father",
    "country_mother", "country_self", "citizenship", "own_business", "veterans_questionnaire",
    "veterans_benefits", "weeks_worked", "year", "income")
NUMBERED_CATEGORIES = ("industry_code", "occupation_code", "own_business", "veterans_benefits", "year")


def census(preprocessing: str = "released", drop_group: bool = False, order: Order = None) -> Stream:
    """Census-Income (KDD), the training file in its own order: what the paper streams.

    Source: US Census Bureau, "Census-Income (KDD)", UCI Machine Learning Repository, 2000; licence
    CC BY 4.0.
    Size: 199,523 rows, 40 features. The file has 41; `instance_weight` tells how many people a row
    stands for and is left out, as UCI's notes ask and the authors' released code does.
    Label: income, "- 50000." (0) or "50000+." (1, 6.2 %). Group: sex, "Female" (0, 52.1 %) or "Male" (1).
    Preprocessing: one of the ways of `aranyani_tf.streams.encoding`. Five columns hold numbers that are names
    of categories (industry, occupation, …): "one_hot" treats them so, the others as numbers, as the
    released code does.

    Args:
        preprocessing: "released", "standardized" (here the same), "one_hot" or "online".
        drop_group: leaves sex out of the features.
        order: which rows to take, by number, in this order; all in the order above if None.
    """
    frame = in_order(census_table(), order)
    return Stream.from_dataframe(
        frame, label="income", group="sex", preprocessing=preprocessing, exclude=["instance_weight"],
        drop_group=drop_group, name="census",
        categorical=NUMBERED_CATEGORIES if preprocessing == "one_hot" else ())


def census_table() -> pd.DataFrame:
    return pd.read_parquet(shipped("census.parquet"))
