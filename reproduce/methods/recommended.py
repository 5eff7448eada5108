"""`ar.recommended`, on each dataset with the recipe that was chosen on all others (`make recipes`)."""

from harness.recipes import Recipe, without
from harness.registry import NOTIONS, TARGETS, register_method


def recommended(group_decides):
    """The function that `register_method` wants, of the recipe by its name."""
    def learner(seed, target, notion, stream, recipe):
        return Recipe.named(recipe).learner(stream, target, notion=notion, group_decides=group_decides, seed=seed)
    return learner


def left_out(group_decides):
    """The one recipe that a dataset's own rows had no part in choosing."""
    return lambda dataset: (without(dataset, group_decides).name,)


ALL = {"fairness_weights": TARGETS, "steered": True, "notions": NOTIONS, "knob": "recipe"}

register_method("recommended", label="recommended", marker="P", color="#0072B2", nanoseconds=350, **ALL,
                learner=recommended(group_decides=False), knob_values=left_out(group_decides=False))
register_method("recommended_by_group", label="recommended, by group", marker="P", color="#D55E00", nanoseconds=230,
                group_needed="to predict", **ALL, learner=recommended(group_decides=True),
                knob_values=left_out(group_decides=True))
