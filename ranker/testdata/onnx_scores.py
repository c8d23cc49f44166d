"""usage: onnx_scores.py MODEL FEATURES SIZES: the scores of the queries by ONNX Runtime, one a line, and the metadata."""
import json, sys
import numpy, onnx, onnxruntime

model, features, sizes = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
onnx.checker.check_model(model, full_check=True)
session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
(given,), (result,) = session.get_inputs(), session.get_outputs()
assert (given.name, result.name) == ("features", "scores"), (given, result)
assert given.shape[0] == "documents" and result.shape == ["documents"], (given, result)
rows = numpy.fromfile(features, dtype="<f4").reshape(-1, given.shape[1])
print(json.dumps(session.get_modelmeta().custom_metadata_map))
at = 0
for n in sizes:
    for score in session.run(None, {"features": rows[at:at + n]})[0]:
        print(repr(float(score)))
    at += n
