"""Writes ensembles.json with a TensorFlow that has the kernels of boosted trees (2.4).

Each case is a random ensemble, as the message that checkpoints hold, buckets of
features, and the logits that TensorFlow computes.
"""

import base64
import json
import os
import random

import numpy as np
import tensorflow as tf
from tensorflow.core.kernels.boosted_trees import boosted_trees_pb2 as pb

OPS = tf.raw_ops


def grow(rng, tree, depth, logits, features):
    """Adds a subtree and returns the index of its root."""
    at = len(tree.nodes)
    node = tree.nodes.add()
    if depth == 0 or rng.random() < 0.2:
        if logits == 1 and rng.random() < 0.8:
            node.leaf.scalar = rng.gauss(0, 1)
        else:
            node.leaf.vector.value.extend(rng.gauss(0, 1) for _ in range(logits))
        return at
    feature = rng.randrange(len(features))
    split = node.categorical_split if rng.random() < 0.3 else node.bucketized_split
    split.feature_id = feature
    split.dimension_id = rng.randrange(features[feature])
    if node.HasField("categorical_split"):
        split.value = rng.randrange(6)
    else:
        split.threshold = rng.randrange(6)
        split.default_direction = rng.randrange(2)
    left = grow(rng, tree, depth - 1, logits, features)
    right = grow(rng, tree, depth - 1, logits, features)
    split = node.categorical_split if node.HasField("categorical_split") else node.bucketized_split
    split.left_id, split.right_id = left, right
    return at


def case(rng, number):
    logits = rng.choice([1, 1, 1, 2, 5])
    features = [rng.choice([1, 1, 3]) for _ in range(rng.randrange(1, 5))]
    ensemble = pb.TreeEnsemble()
    for i in range(rng.randrange(6)):
        grow(rng, ensemble.trees.add(), rng.randrange(5), logits, features)
        ensemble.tree_weights.append(rng.choice([1, 0.1, rng.random()]))
        ensemble.tree_metadata.add(num_layers_grown=3, is_finalized=rng.random() < 0.7)
    if rng.random() < 0.7:
        grown = ensemble.growing_metadata
        grown.num_layers_attempted = rng.randrange(20)
        grown.last_layer_node_start = rng.randrange(4)
        grown.last_layer_node_end = rng.randrange(9)
    examples = rng.choice([0, 1, 7])
    buckets = []
    for size in features:
        shape = [examples] if size == 1 and rng.random() < 0.6 else [examples, size]
        buckets.append(np.array([rng.randrange(-1, 7) for _ in range(examples * size)], np.int32).reshape(shape))
    handle = OPS.BoostedTreesEnsembleResourceHandleOp(container="", shared_name=str(number))
    wire = ensemble.SerializeToString()
    OPS.BoostedTreesCreateEnsemble(tree_ensemble_handle=handle, stamp_token=tf.constant(number, tf.int64), tree_ensemble_serialized=wire)
    states = OPS.BoostedTreesGetEnsembleStates(tree_ensemble_handle=handle)
    got = OPS.BoostedTreesPredict(tree_ensemble_handle=handle, bucketized_features=buckets, logits_dimension=logits)
    return {
        "ensemble": base64.b64encode(wire).decode(),
        "features": [{"shape": b.shape, "values": b.ravel().tolist()} for b in buckets],
        "states": [np.asarray(s).ravel().tolist() for s in states],
        "dimension": logits,
        "logits": [float(v) for v in got.numpy().ravel()],
    }


def main():
    rng = random.Random(12)
    with open(os.path.join(os.path.dirname(__file__), "ensembles.json"), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(case(rng, i)) for i in range(30)) + "\n]\n")


main()
