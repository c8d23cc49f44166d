"""The lines that plrank writes against the schemas of UBI 1.3 (github.com/o19s/ubi, folder schema/1.3.0).

    go run ./clicks log DIR
    pip install jsonschema==4.26.0
    python3 clicks/ubi_check.py DIR/log.jsonl UBI/schema/1.3.0

The published schema says that an action is exactly one of two forms, and its common actions, such as
click, are both: that is read as any of the two.
"""

import json
import pathlib
import sys

from jsonschema import Draft202012Validator

schemas = pathlib.Path(sys.argv[2])
query = json.loads((schemas / "query.request.schema.json").read_text())
event = json.loads((schemas / "event.schema.json").read_text())
action = event["properties"]["action_name"]
action["anyOf"] = action.pop("oneOf")
query, event = [Draft202012Validator(s, format_checker=Draft202012Validator.FORMAT_CHECKER) for s in (query, event)]
lines = [json.loads(line) for line in pathlib.Path(sys.argv[1]).read_text().splitlines()]
for line in lines:
    (event if "action_name" in line else query).validate(line)
print(len(lines), "lines are valid")
