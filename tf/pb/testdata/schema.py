"""Prints TensorFlow's message schema, one fact a line.

The full names of messages and enums come on standard input. Every message and
enum of the files that define them is printed, so that the output also shows
what the reader of it lacks. The wheel's Python modules leave out some files,
among them worker.proto and master.proto; the descriptors of all files are taken
out of the shared libraries, where generated C++ code keeps them serialized.
"""

import glob
import importlib
import mmap
import os
import re
import sys

from google.protobuf import descriptor_pb2

# Files that only Python knows.
PYTHON_ONLY = ["tensorflow.python.training.checkpoint_state_pb2"]

# Field 1 of a FileDescriptorProto (its name), followed by field 2 (its package).
FILE_START = re.compile(rb"\x0a([\x08-\x7f])((?:tensorflow|xla|tsl)/[\w/]+\.proto)\x12")

# The tags that a FileDescriptorProto may hold: the first other byte ends it.
LENGTH_TAGS = b"\x0a\x12\x1a\x22\x2a\x32\x3a\x42\x4a\x62"
VARINT_TAGS = b"\x50\x58\x70"

TYPES = {n: d[len("TYPE_"):].lower() for d, n in descriptor_pb2.FieldDescriptorProto.Type.items()}
LABELS = {n: d[len("LABEL_"):].lower() for d, n in descriptor_pb2.FieldDescriptorProto.Label.items()}
UNPACKABLE = {"string", "bytes", "message", "group"}


def varint(data, pos):
    value = shift = 0
    while True:
        byte = data[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, pos


def end_of_file_descriptor(data, pos):
    while True:
        tag = data[pos]
        if tag in VARINT_TAGS:
            _, pos = varint(data, pos + 1)
        elif tag in LENGTH_TAGS:
            size, after = varint(data, pos + 1)
            pos = after + size
        else:
            return pos


def embedded_files(library):
    with open(library, "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for match in FILE_START.finditer(data):
            if len(match.group(2)) != match.group(1)[0]:
                continue
            raw = data[match.start():end_of_file_descriptor(data, match.start())]
            yield descriptor_pb2.FileDescriptorProto.FromString(raw)


def tensorflow_files():
    root = os.path.dirname(importlib.import_module("tensorflow").__file__)
    files = {}
    for module in PYTHON_ONLY:
        fd = descriptor_pb2.FileDescriptorProto()
        importlib.import_module(module).DESCRIPTOR.CopyToProto(fd)
        files[fd.name] = fd
    for library in sorted(glob.glob(root + "/libtensorflow_*.so*")):
        for fd in embedded_files(library):
            files.setdefault(fd.name, fd)
    return files.values()


def enum_lines(scope, enum):
    name = scope + "." + enum.name
    yield f"enum {name}"
    for value in enum.value:
        yield f"value {name} {value.number} {value.name}"


def packed(fd, field):
    if LABELS[field.label] != "repeated" or TYPES[field.type] in UNPACKABLE:
        return False
    return field.options.packed if field.options.HasField("packed") else fd.syntax == "proto3"


def field_line(fd, message, name, field):
    oneof = message.oneof_decl[field.oneof_index].name if field.HasField("oneof_index") else "-"
    parts = [
        "field", name, str(field.number), field.name, LABELS[field.label], TYPES[field.type],
        field.type_name.lstrip(".") or "-", oneof,
        "packed" if packed(fd, field) else "-",
        "deprecated" if field.options.deprecated else "-",
    ]
    return " ".join(parts)


def message_lines(fd, scope, message):
    name = scope + "." + message.name
    yield f"message {name}"
    for field in message.field:
        yield field_line(fd, message, name, field)
    for span in message.reserved_range:
        yield f"reserved {name} {span.start} {span.end}"
    for enum in message.enum_type:
        yield from enum_lines(name, enum)
    for nested in message.nested_type:
        yield from message_lines(fd, name, nested)


def file_lines(fd):
    for enum in fd.enum_type:
        yield from enum_lines(fd.package, enum)
    for message in fd.message_type:
        yield from message_lines(fd, fd.package, message)


def main():
    wanted = set(sys.stdin.read().split())
    lines = set()
    for fd in tensorflow_files():
        declared = {fd.package + "." + d.name for d in [*fd.message_type, *fd.enum_type]}
        if declared & wanted:
            lines.update(file_lines(fd))
    print("\n".join(sorted(lines)))


if __name__ == "__main__":
    main()
