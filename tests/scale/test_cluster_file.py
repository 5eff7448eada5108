"""The cluster file of the examples, as Ray itself reads it."""

import json
from pathlib import Path

import jsonschema
import ray
import yaml
from ray.autoscaler._private.util import prepare_config, validate_config

FILE = Path(__file__).parents[2] / "examples" / "cluster.yaml"


def test_ray_s_own_schema_takes_the_cluster_file():
    schema = json.loads((Path(ray.__file__).parent / "autoscaler" / "ray-schema.json").read_text(encoding="utf-8"))
    found = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    jsonschema.validate(found, schema)
    with_defaults = prepare_config(found)
    validate_config(with_defaults)
    assert with_defaults["max_workers"] == len(found["provider"]["worker_ips"])
