"""Writes tfconfig.json: which texts TF_CONFIG may have, and whether the task is the
chief, as RunConfig of TensorFlow 1.15 says.

It needs Python 3.7 with tensorflow==1.15:

    python tfconfig.py > tfconfig.json
"""
import itertools
import json
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)

CLUSTERS = [
    None,
    {"chief": ["a:1"]},
    {"master": ["a:1"]},
    {"master": ["a:1", "b:1"]},
    {"chief": ["a:1"], "master": ["b:1"], "worker": ["c:1"]},
    {"master": ["a:1"], "ps": ["b:1"], "worker": ["c:1", "d:1"]},
    {"chief": ["a:1"], "ps": ["b:1"], "worker": ["c:1", "d:1"]},
    {"chief": ["a:1", "b:1"], "worker": ["c:1"]},
    {"worker": ["c:1", "d:1"], "ps": ["b:1"]},
    {"chief": ["a:1"], "evaluator": ["e:1"], "worker": ["c:1"]},
]
TASKS = [None] + [{"type": t, "index": i} for t in ["chief", "master", "worker", "ps", "evaluator"] for i in [0, 1, -1]]


def case(cluster, task):
    text = json.dumps({k: v for k, v in [("cluster", cluster), ("task", task)] if v is not None})
    os.environ["TF_CONFIG"] = text
    try:
        c = tf.estimator.RunConfig()
    except (ValueError, TypeError) as e:
        return {"text": text, "error": str(e).splitlines()[0]}
    return {"text": text, "chief": c.is_chief, "type": c.task_type, "index": c.task_id, "ps": c.num_ps_replicas}


print("[\n" + ",\n".join(json.dumps(case(c, t)) for c, t in itertools.product(CLUSTERS, TASKS)) + "\n]")
