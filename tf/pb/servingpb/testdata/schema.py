"""Prints the messages of TensorFlow Serving, one fact a line, to schema.golden.

Needs tensorflow-serving-api 2.21.0 beside TensorFlow 2.21:

    python schema.py > schema.golden
"""
import importlib
import pkgutil

from google.protobuf import descriptor_pb2
import tensorflow_serving.apis
import tensorflow_serving.config

Field = descriptor_pb2.FieldDescriptorProto
# Platforms are TensorFlow Serving's way to serve what is no SavedModel.
LEFT_OUT = {"platform_config_pb2"}


def enum(scope, e):
    for v in e.value:
        yield f"value {scope}.{e.name} {v.number} {v.name}"


def message(scope, m):
    name = f"{scope}.{m.name}"
    yield f"message {name}"
    for f in m.field:
        label = "repeated" if f.label == Field.LABEL_REPEATED else "single"
        kind = Field.Type.Name(f.type)[len("TYPE_"):].lower()
        yield f"field {name} {f.number} {f.name} {label} {kind} {f.type_name.lstrip('.') or '-'}"
    for e in m.enum_type:
        yield from enum(name, e)
    for n in m.nested_type:
        yield from message(name, n)


lines = set()
for package in (tensorflow_serving.apis, tensorflow_serving.config):
    for module in pkgutil.iter_modules(package.__path__):
        if module.name.endswith("_pb2") and module.name not in LEFT_OUT:
            fd = descriptor_pb2.FileDescriptorProto()
            importlib.import_module(f"{package.__name__}.{module.name}").DESCRIPTOR.CopyToProto(fd)
            for m in fd.message_type:
                lines.update(message(fd.package, m))
            for e in fd.enum_type:
                lines.update(enum(fd.package, e))
print("\n".join(sorted(lines)))
