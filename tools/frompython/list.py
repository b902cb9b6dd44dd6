"""Lists the public names of tf.compat.v1 that build or run graphs.

One line for each object: all its names, sorted, separated by spaces, without
"tf." before them. Docs of Keras are elsewhere; tf.layers and tf.nn.rnn_cell
are listed if tf-keras 2.21.0 can be imported.

    TF_USE_LEGACY_KERAS=1 python tools/frompython/list.py
"""

import os
import types

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow.compat.v1 as tf  # noqa: E402

# Modules that neither build nor run graphs, or that are other systems.
SKIP = set(
    "app autograph compat flags keras lite logging mlir raw_ops resource_loader"
    " sysconfig test tools tpu types user_ops version".split()
)
# Names of the installation, not of the interface.
VERSIONS = ("CXX11_ABI_FLAG CXX_VERSION COMPILER_VERSION GIT_VERSION GRAPH_DEF_VERSION"
            " GRAPH_DEF_VERSION_MIN_CONSUMER GRAPH_DEF_VERSION_MIN_PRODUCER"
            " MONOLITHIC_BUILD VERSION").split()


def own(module):
    """Whether a module belongs to the interface of version 1 and is there."""
    try:
        name = module.__name__
    except (ImportError, AttributeError):
        return False
    return "compat.v1" in name or "._v1" in name


def members(module):
    """The public members of a module, none if it cannot be loaded."""
    try:
        names = [n for n in sorted(dir(module)) if not n.startswith("_")]
        return [(n, getattr(module, n)) for n in names]
    except (ImportError, AttributeError):
        return []


def walk(module, prefix, seen, out):
    for name, value in members(module):
        if not prefix and (name in SKIP or name in VERSIONS):
            continue
        if isinstance(value, types.ModuleType):
            if own(value) and id(value) not in seen:
                seen.add(id(value))
                walk(value, prefix + name + ".", seen, out)
        else:
            out.append((prefix + name, value))


def main():
    found = []
    walk(tf, "", {id(tf)}, found)
    groups = {}
    for name, value in found:
        # Small numbers and strings are shared by what has nothing in common.
        key = name if isinstance(value, (int, str, type(None))) else id(value)
        groups.setdefault(key, []).append(name)
    for names in sorted(sorted(g, key=lambda n: (n.count("."), n)) for g in groups.values()):
        print(" ".join(names))


if __name__ == "__main__":
    main()
