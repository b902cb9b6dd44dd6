"""What scripts that look at a server from a client's side have in common: they
print what comes of what they do, in words that do not depend on the server."""
import os
import re

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import tensorflow as tf

v1 = tf.compat.v1
v1.disable_v2_behavior()


def config(**more):
    # Grappler may evaluate constants before the step and change what fails.
    c = v1.ConfigProto(operation_timeout_in_ms=240000, **more)
    c.graph_options.rewrite_options.disable_meta_optimizer = True
    return c


def show(what, value):
    print("%s: %s" % (what, value))


def own_words(message):
    """What the server said: without what the client's side adds, and numbers."""
    lines = [l for l in message.splitlines() if l and not re.match("Graph execution error|Detected at|Node:| +File| +[a-z]", l)]
    text = re.sub(r"\b[0-9a-f]{16}\b", "N", "|".join(lines))
    # In errors of placement it writes the node in another way.
    return re.sub(r"(\[\[)?\{\{node (\S+)\}\}", r"\1\2", text)


def fails(what, f, op=True, words=True):
    try:
        show(what, "no error: %r" % (f(),))
    except tf.errors.OpError as e:
        name = "op=%s " % (e.op and e.op.name) if op else ""
        show(what, "%s %s%s" % (type(e).__name__, name, own_words(e.message) if words else ""))
    except Exception as e:
        show(what, type(e).__name__)
