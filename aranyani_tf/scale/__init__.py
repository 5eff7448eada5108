"""More than one core or machine, on Ray: grids in shards, many live models, one model from many sites.

`merge_statistics`, `average` and `learn_apart` need no Ray; what does says so when it is called.
"""

from aranyani_tf.scale.averaging import average
from aranyani_tf.scale.cluster import cluster
from aranyani_tf.scale.executor import RayExecutor
from aranyani_tf.scale.grids import fit_grove
from aranyani_tf.scale.learn_apart import learn_apart
from aranyani_tf.scale.merging import merge_statistics
from aranyani_tf.scale.sites import Sites

__all__ = ["RayExecutor", "Sites", "average", "cluster", "fit_grove", "learn_apart", "merge_statistics"]
