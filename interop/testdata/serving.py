"""Calls every method of a model server with TensorFlow Serving's own client.

    python serving.py GRPC_ADDRESS REST_URL MODELS_DIRECTORY

Prints a line for what differs from what TensorFlow Serving answers, and "ok" last.
MODELS_DIRECTORY has half/1 and half/2, which the server serves as "half", all
versions, with label "first" for 1.
"""
import gzip
import json
import sys
import urllib.error
import urllib.request

import grpc
import numpy as np
import tensorflow as tf
from google.protobuf import json_format
from tensorflow_serving.apis import classification_pb2, get_model_metadata_pb2, get_model_status_pb2, inference_pb2
from tensorflow_serving.apis import model_management_pb2, model_service_pb2_grpc, predict_pb2, prediction_service_pb2_grpc, regression_pb2

address, rest, models = sys.argv[1:]
channel = grpc.insecure_channel(address)
prediction = prediction_service_pb2_grpc.PredictionServiceStub(channel)
service = model_service_pb2_grpc.ModelServiceStub(channel)
Code = grpc.StatusCode


def same(what, got, want):
    if got != want:
        print(f"{what}: got {got!r}, want {want!r}")


def fails(what, call, request, code, text, exact=True):
    try:
        print(f"{what}: no error but {call(request, timeout=20)}")
    except grpc.RpcError as e:
        same(what + " (code)", e.code(), code)
        same(what, e.details() if exact else e.details()[:len(text)], text)


def predict(inputs, signature="", version=None, label=None, outputs=(), name="half"):
    r = predict_pb2.PredictRequest(output_filter=outputs)
    r.model_spec.name, r.model_spec.signature_name = name, signature
    if version is not None:
        r.model_spec.version.value = version
    if label is not None:
        r.model_spec.version_label = label
    for k, v in inputs.items():
        r.inputs[k].CopyFrom(tf.make_tensor_proto(v))
    return r


def example(x):
    return tf.train.Example(features=tf.train.Features(feature={"x": tf.train.Feature(float_list=tf.train.FloatList(value=[x]))}))


def fill(r, signature, *xs):
    r.model_spec.name, r.model_spec.signature_name = "half", signature
    r.input.example_list.examples.extend(example(x) for x in xs)
    return r


def of_grpc():
    x = np.array([2, 4], np.float32)
    r = prediction.Predict(predict({"x": x}), timeout=20)
    same("Predict", tf.make_ndarray(r.outputs["y"]).tolist(), [3, 4])
    same("typed field", list(r.outputs["y"].float_val), [3, 4])
    same("its spec", (r.model_spec.name, r.model_spec.version.value, r.model_spec.signature_name), ("half", 2, "serving_default"))
    same("by version", list(prediction.Predict(predict({"x": x}, version=1)).outputs["y"].float_val), [2, 3])
    same("by label", list(prediction.Predict(predict({"x": x}, label="first")).outputs["y"].float_val), [2, 3])
    r = prediction.Predict(predict({"x": x, "k": x}, "two", outputs=["z"]))
    same("filtered", {k: list(v.float_val) for k, v in r.outputs.items()}, {"z": [5, 8]})
    r = prediction.Classify(fill(classification_pb2.ClassificationRequest(), "classify", 2, 4))
    same("Classify", [[(c.label, c.score) for c in e.classes] for e in r.result.classifications], [[("3", 3)], [("4", 4)]])
    r = prediction.Regress(fill(regression_pb2.RegressionRequest(), "regress", 2, 4))
    same("Regress", [e.value for e in r.result.regressions], [3, 4])
    r = inference_pb2.MultiInferenceRequest()
    for name in ("classify", "regress"):
        t = r.tasks.add(method_name="tensorflow/serving/" + name)
        t.model_spec.name, t.model_spec.signature_name = "half", name
    r.input.example_list_with_context.context.CopyFrom(example(6))
    r.input.example_list_with_context.examples.add()
    r = prediction.MultiInference(r)
    same("MultiInference", (r.results[0].classification_result.classifications[0].classes[0].label, r.results[1].regression_result.regressions[0].value), ("5", 5))
    r = get_model_metadata_pb2.GetModelMetadataRequest(metadata_field=["signature_def"])
    r.model_spec.name = "half"
    defs = get_model_metadata_pb2.SignatureDefMap()
    same("metadata is packed", prediction.GetModelMetadata(r).metadata["signature_def"].Unpack(defs), True)
    same("signatures", sorted(defs.signature_def), ["classify", "regress", "serving_default", "two"])
    same("input", defs.signature_def["serving_default"].inputs["x"].name, "x:0")
    r = get_model_status_pb2.GetModelStatusRequest()
    r.model_spec.name = "half"
    same("status", [(v.version, v.state) for v in service.GetModelStatus(r).model_version_status], [(2, 30), (1, 30)])


def errors_of_grpc():
    x = np.array([1], np.float32)
    p = prediction.Predict
    bad, missing = Code.INVALID_ARGUMENT, Code.NOT_FOUND
    fails("no spec", p, predict_pb2.PredictRequest(), bad, "Missing ModelSpec")
    fails("no model", p, predict({"x": x}, name="none"), missing, "Servable not found for request: Latest(none)")
    fails("no version", p, predict({"x": x}, version=7), missing, "Servable not found for request: Specific(half, 7)")
    fails("no label", p, predict({"x": x}, label="L"), bad, "Unrecognized servable version label: L")
    fails("no signature", p, predict({"x": x}, "S"), Code.FAILED_PRECONDITION, 'Serving signature key "S" not found.')
    fails("few inputs", p, predict({"x": x}, "two"), bad, "input size does not match signature: 1!=2 len({x}) != len({k,x}). Sent extra: {}. Missing but required: {k}.")
    fails("other inputs", p, predict({"x": x, "q": x}, "two"), bad, "Signature input alias: k(feed name: k:0) not found in request and no default value provided. Inputs expected to be in the request {q,x}, or default input alias set: ")
    broken = predict({"x": x})
    broken.inputs["x"].tensor_content = b"abc"
    fails("broken tensor", p, broken, bad, "tensor parsing error: x")
    fails("no output", p, predict({"x": x}, outputs=["o"]), bad, "output tensor alias not found in signature: o Outputs expected to be in the set {y}.")
    fails("output twice", p, predict({"x": x}, outputs=["y", "y"]), bad, "duplicate output tensor alias: y")
    fails("type", p, predict({"x": np.array([1], np.int32)}), bad, "", exact=False)
    fails("empty", prediction.Classify, fill(classification_pb2.ClassificationRequest(), "classify"), bad, "Input is empty.")
    fails("classify", prediction.Classify, fill(classification_pb2.ClassificationRequest(), "S", 1), bad, "No signature was found with the name: S")
    r = get_model_metadata_pb2.GetModelMetadataRequest(metadata_field=["F"])
    r.model_spec.name = "half"
    fails("metadata", prediction.GetModelMetadata, r, bad, "Metadata field F is not supported")
    r = get_model_status_pb2.GetModelStatusRequest()
    r.model_spec.name = "none"
    fails("status", service.GetModelStatus, r, missing, "Could not find any versions of model none")
    r.model_spec.name, r.model_spec.version.value = "half", 7
    fails("status of version", service.GetModelStatus, r, missing, "Could not find version 7 of model half")
    long = predict({"x": x}, outputs=["o" * 2000])
    fails("long text", p, long, bad, ("output tensor alias not found in signature: " + "o" * 2000)[:1024] + "...TRUNCATED")
    r = model_management_pb2.ReloadConfigRequest()
    m = r.config.model_config_list.config.add(name="half", base_path=models + "/half")
    fails("no platform", service.HandleReloadConfigRequest, r, bad, "Illegal setting neither ModelServerConfig::model_type (deprecated) nor ModelServerConfig::model_platform, model name is half")
    m.model_platform, m.base_path = "tensorflow", "p"
    fails("relative path", service.HandleReloadConfigRequest, r, bad, "Expected model half to have an absolute path or URI; got base_path()=p")
    m.base_path = models + "/half"
    m.version_labels["a"] = 9
    m.model_version_policy.all.SetInParent()
    fails("label", service.HandleReloadConfigRequest, r, Code.FAILED_PRECONDITION, "Request to assign label to version 9 of model half, which is not currently available for inference")


def http(path, body=None, headers={}, method=None):
    if isinstance(body, (dict, list)):
        body = json.dumps(body)
    if isinstance(body, str):
        body = body.encode()
    r = urllib.request.Request(rest + path, body, headers, method=method)
    try:
        with urllib.request.urlopen(r, timeout=20) as answer:
            return answer.status, answer.read().decode(), answer.headers
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode(), e.headers


def answers(what, want, *args, **kwargs):
    status, text, headers = http(*args, **kwargs)
    same(what, (status, json.loads(text)), (200, want))
    same(what + " (type)", headers["Content-Type"], "application/json")


def refuses(what, status, text, *args, **kwargs):
    got = http(*args, **kwargs)
    same(what, (got[0], json.loads(got[1])), (status, {"error": text}))


def of_rest():
    model = "/v1/models/half"
    answers("rows", {"predictions": [3.0, 4.0]}, model + ":predict", {"instances": [2, 4]})
    answers("columns", {"outputs": [3.0, 4.0]}, model + ":predict", {"inputs": {"x": [2, 4]}})
    answers("two", {"predictions": [{"y": 3.0, "z": 4.0}]}, model + ":predict", {"signature_name": "two", "instances": [{"x": 2, "k": 1}]})
    answers("version", {"predictions": [2.0]}, model + "/versions/1:predict", {"instances": [2]})
    answers("label", {"predictions": [2.0]}, model + "/labels/first:PREDICT", {"instances": [2]})
    answers("capitals", {"predictions": [2.0]}, "/V1/Models/half/Versions/1:predict", {"instances": [2]})
    answers("classify", {"results": [[["3", 3.0]], [["4", 4.0]]]}, model + ":classify", {"signature_name": "classify", "examples": [{"x": 2.0}, {"x": [4.0]}]})
    answers("regress", {"results": [3.0, 4.0]}, model + ":regress", {"signature_name": "regress", "context": {"x": 4.0}, "examples": [{"x": 2.0}, {}]})
    answers("gzip", {"predictions": [3.0]}, model + ":predict", gzip.compress(b'{"instances": [2]}'), {"Content-Encoding": "gzip"})
    one = {"error_code": "OK", "error_message": ""}
    answers("status", {"model_version_status": [{"version": v, "state": "AVAILABLE", "status": one} for v in "21"]}, model)
    got = json.loads(http(model + "/metadata")[1])
    same("metadata", (got["model_spec"], got["metadata"]["signature_def"]["signature_def"]["serving_default"]["method_name"]), ({"name": "half", "signature_name": "", "version": "2"}, "tensorflow/serving/predict"))
    defs = get_model_metadata_pb2.SignatureDefMap()
    json_format.ParseDict(got["metadata"]["signature_def"], defs)
    same("its input", defs.signature_def["two"].inputs["k"].dtype, tf.float32.as_datatype_enum)
    same("numbers", http(model + ":predict", '{"instances": [NaN, 1e40, -Infinity, 0.5, 0.3]}')[1].split("[")[1].split("]")[0], "NaN, Infinity, -Infinity, 2.25, 2.15")


def errors_of_rest():
    model = "/v1/models/half"
    refuses("empty", 400, "JSON Parse error: The document is empty", model + ":predict", "")
    refuses("no JSON", 400, "JSON Parse error: Invalid value. at offset: 5", model + ":predict", '{"a":}')
    refuses("no key", 400, "Missing 'inputs' or 'instances' key", model + ":predict", "{}")
    refuses("no model", 404, "Servable not found for request: Latest(none)", "/v1/models/none:predict", {"instances": [1]})
    refuses("no signature", 400, 'Serving signature name: "S" not found in signature def', model + ":predict", {"signature_name": "S", "instances": [1]})
    refuses("shape", 400, "Failed to process element: 1 of 'instances' list. Error: INVALID_ARGUMENT: Expecting tensor size: 2 but got: 3", model + ":predict", {"instances": [[1, 2], [1, 2, 3]]})
    refuses("plain list", 400, "instances is a plain list, but expecting list of objects as multiple input tensors required as per tensorinfo_map", model + ":predict", {"signature_name": "two", "instances": [1]})
    refuses("input", 400, "Missing named input: k in 'inputs' object.", model + ":predict", {"signature_name": "two", "inputs": {"x": [1]}})
    refuses("verb", 400, "Malformed request: POST " + model, model, {})
    refuses("method", 400, "Malformed request: POST " + model + ":explain", model + ":explain", {})
    refuses("no name", 400, "Missing model name in request.", "/v1/models")
    refuses("classify", 400, "No signature was found with the name: S", model + ":classify", {"signature_name": "S", "examples": [{"x": 1.0}]})
    same("outside", http("/v2/models")[0], 404)
    status, _, headers = http(model + ":predict", {"instances": [1]}, {"Origin": "https://example.com"})
    same("CORS", (status, headers["Access-Control-Allow-Origin"], headers["Access-Control-Allow-Methods"], headers["Access-Control-Allow-Headers"]), (200, "*", "POST, GET", "Content-Type"))
    same("preflight", http(model + ":predict", method="OPTIONS", headers={"Origin": "https://example.com"})[0], 200)
    same("preflight without origin", http(model + ":predict", method="OPTIONS")[0], 400)


def reload():
    r = model_management_pb2.ReloadConfigRequest()
    for name, version in (("one", 1), ("half", 2)):
        m = r.config.model_config_list.config.add(name=name, base_path=models + "/half", model_platform="tensorflow")
        m.model_version_policy.specific.versions.append(version)
    same("reload", service.HandleReloadConfigRequest(r, timeout=20).status.error_code, 0)
    same("new model", list(prediction.Predict(predict({"x": np.array([2], np.float32)}, name="one")).outputs["y"].float_val), [2])
    del r.config.model_config_list.config[0]
    service.HandleReloadConfigRequest(r, timeout=20)
    fails("gone", prediction.Predict, predict({"x": np.array([2], np.float32)}, name="one"), Code.NOT_FOUND, "Servable not found for request: Latest(one)")
    text = http("/monitoring/prometheus/metrics")[1]
    for want in (':tensorflow:serving:request_count{model_name="half",status="OK"}', ':tensorflow:serving:request_latency_bucket{API="Predict",entrypoint="GRPC",model_name="half",le="10"}',
                 ':tensorflow:serving:request_latency_count{API="predict",entrypoint="REST",model_name="half"}', "go_goroutines"):
        if want not in text:
            print("metrics lack", want)


of_grpc()
errors_of_grpc()
of_rest()
errors_of_rest()
reload()
print("ok")
