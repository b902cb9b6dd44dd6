"""Imports TensorFlow Text, whose wheel of release 2.21.0 cannot be imported as it is: its libraries look for Unicode's
data by the name icudt77_dat, and the one that has them names them icudt77l_dat. A library with the name they look for is
built of these data and loaded first.

Needs tensorflow-cpu==2.21.0, tensorflow-text==2.21.0 (pip install --no-deps) and cc.
"""

import ctypes
import importlib.util
import os
import subprocess
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import tensorflow  # noqa: F401, the libraries of TensorFlow Text need it

SHIM = """
.section .rodata
.globl icudt77_dat
.balign 16
icudt77_dat:
.incbin "icu.dat"
.section .note.GNU-stack,"",@progbits
"""


def load_data(folder):
    wheel = os.path.dirname(importlib.util.find_spec("tensorflow_text").origin)
    library = os.path.join(wheel, "core/pybinds/libpybinds_library_common.so")
    symbols = subprocess.check_output(["nm", "-D", "-S", library], text=True).splitlines()
    start, size = next((int(l.split()[0], 16), int(l.split()[1], 16)) for l in symbols if l.endswith(" icudt77l_dat"))
    with open(library, "rb") as f:
        f.seek(start)  # read-only data are in the file where they are in memory
        data = f.read(size)
    for name, content in ("icu.dat", data), ("shim.S", SHIM.encode()):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(content)
    subprocess.check_call(["cc", "-shared", "-o", "shim.so", "shim.S"], cwd=folder)
    ctypes.CDLL(os.path.join(folder, "shim.so"), ctypes.RTLD_GLOBAL)


with tempfile.TemporaryDirectory() as scratch:
    load_data(scratch)

import tensorflow_text as text  # noqa: E402, F401
