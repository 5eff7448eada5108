"""The model that a service begins with: put your own table and your own model here.

The first rows of a table settle what its columns are: which are numbers and how they are scaled, which categories there
are. The model has learned nothing yet; it learns from feedback alone.
"""

import pandas as pd

import aranyani_tf as ar
from aranyani_tf.datasets.adult import shipped

TARGET = 0.05  # the gap between women and men that λ is moved to keep
LIMIT = 0.10  # above which, beyond doubt, an alarm is sounded


def people():
    """The table of the example: UCI Adult, 32,561 people, does someone earn more than 50,000 dollars?"""
    return pd.read_parquet(shipped("adult.parquet"))


def first_model():
    """A model that knows the columns, and a monitor of what it decides."""
    stream = ar.Stream.from_dataframe(people()[:5000], label="income", group="gender", drop_group=True, num_labels=2,
                                      num_groups=2)
    model = ar.Aranyani(fairness_weight=ar.ParityTarget(TARGET), seed=0)
    monitor = ar.FairnessMonitor(limit=LIMIT, group_names=stream.form.group_names)
    return ar.TabularModel(model, stream.form), monitor
