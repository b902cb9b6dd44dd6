"""Runs tf/optest/golden.py with the operations of TensorFlow Text:

    go test ./tf/ops/tftext -run TestOps/Export -export DIR
    python tf/ops/tftext/testdata/golden.py DIR tf/ops/tftext

textops.py says what it needs.
"""

import os
import runpy

import textops  # noqa: F401, registers the operations

runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../optest/golden.py"), run_name="__main__")
