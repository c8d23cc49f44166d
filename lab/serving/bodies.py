"""Prints the processor time of the service for a request of 100 documents, as JSON and as rows of float32.

    python3 bodies.py PID [http://localhost:8080] [REQUESTS]

PID is the process of plrank serve, with one model. Numbers are as json.dumps writes float64."""
import array, http.client, json, os, random, sys, urllib.parse

pid, requests = int(sys.argv[1]), int(sys.argv[3]) if len(sys.argv) > 3 else 1000
connection = http.client.HTTPConnection(urllib.parse.urlparse(sys.argv[2] if len(sys.argv) > 2 else "http://localhost:8080").netloc)


def call(method, path, body=None, kind="application/json"):
    connection.request(method, path, body, {"Content-Type": kind})
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status == 200, text
    return json.loads(text)


def used():
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


ids = call("GET", "/v1/models")["models"][0]["feature_ids"]
random.seed(1)
rows = [[random.gauss(0, 1) for _ in ids] for _ in range(100)]
floats = array.array("f", [v for row in rows for v in row])  # on a little-endian machine
bodies = {
    "JSON arrays": (json.dumps({"documents": rows}).encode(), "application/json"),
    "JSON objects": (json.dumps({"documents": [dict(zip(map(str, ids), row)) for row in rows]}).encode(), "application/json"),
    "binary": (b'{"documents": 100}\n' + floats.tobytes(), "application/vnd.plrank.rows"),
}
assert call("POST", "/v1/rank", *bodies["JSON arrays"])["order"] == call("POST", "/v1/rank", *bodies["binary"])["order"]
for name, (body, kind) in bodies.items():
    before = used()
    for _ in range(requests):
        call("POST", "/v1/rank", body, kind)
    print(f"{name}: {len(ids)} features, {len(body)} bytes, {1000 * (used() - before) / requests:.2f} ms")
