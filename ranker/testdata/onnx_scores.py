"""usage: onnx_scores.py MODEL FEATURES SIZES [INPUT=FILE...]: the scores of the queries by ONNX Runtime, one a line, and the metadata."""
import json, sys
import numpy, onnx, onnxruntime

model, features, sizes = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
onnx.checker.check_model(model, full_check=True)
session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
(given, *others), (result,) = session.get_inputs(), session.get_outputs()
assert (given.name, result.name) == ("features", "scores"), (given, result)
assert given.shape[0] == "documents" and result.shape == ["documents"], (given, result)
files = dict(word.split("=", 1) for word in sys.argv[4:])
assert {o.name for o in others} == set(files), others
inputs = {"features": numpy.fromfile(features, dtype="<f4").reshape(-1, given.shape[1])}
for o in others:
    assert o.name != "base_scores" or o.shape == ["documents"], o.shape
    inputs[o.name] = numpy.fromfile(files[o.name], dtype="<f4").reshape(-1, *o.shape[1:])
print(json.dumps(session.get_modelmeta().custom_metadata_map))
at = 0
for n in sizes:
    for score in session.run(None, {name: rows[at:at + n] for name, rows in inputs.items()})[0]:
        print(repr(float(score)))
    at += n
