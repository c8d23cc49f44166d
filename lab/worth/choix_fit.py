"""Fits the data on standard input by functions of choix, at their defaults but for alpha=0 (no prior).

Input: {"items": n, "functions": [name, ...], "data": [...]}; output: {name: {"seconds": s, "params": [...]}}.
"""

import json
import sys
import time

import choix

job = json.load(sys.stdin)
fits = {}
for name in job["functions"]:
    started = time.perf_counter()
    params = getattr(choix, name)(job["items"], job["data"], alpha=0.0)
    fits[name] = {"seconds": time.perf_counter() - started, "params": params.tolist()}
json.dump(fits, sys.stdout)
