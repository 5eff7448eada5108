"""matplotlib, which only pictures need."""

from typing import Any

from aranyani_tf.errors import ArgumentError


def new_figure(**settings: Any) -> Any:
    """A figure that no window shows."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ArgumentError("a picture needs matplotlib: pip install 'aranyani_tf[plots]'") from error
    matplotlib.rcParams["svg.fonttype"] = "none"  # texts stay texts: smaller, and they can be searched
    return Figure(layout="constrained", **settings)
