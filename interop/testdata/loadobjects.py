"""Loads a model by its graph of objects, and prints what its functions return."""
import sys

import numpy as np
import tensorflow as tf

m = tf.saved_model.load(sys.argv[1])
if sys.argv[2] == "functions":
    r = m.encoder.embed(tf.constant(["b", "z"]))
    print(" ".join(str(x) for x in np.concatenate([r["score"].numpy().ravel(), r["sum"].numpy().ravel()])))
    print(*[float(np.ravel(x)[0]) for x in tf.nest.flatten(m(2.0, 5.0))])
    print(m.twice(tf.constant(4.0)).numpy())
    m.encoder.w.assign(m.encoder.w * 2)
    print(" ".join(str(x) for x in m.encoder.embed(tf.constant(["b"]))["sum"].numpy().ravel()))
else:
    f = m.signatures["serving_default"]
    print(" ".join(str(x) for x in f(inputs=tf.constant([[1.0, 1.0]]))["output_0"].numpy().ravel()))
    print(len(f.variables), len(f.trainable_variables))
