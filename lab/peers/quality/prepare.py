"""prepare.py COLLECTION INTO writes for every fold a file NAME.path with the folder of its three splits."""

import pathlib
import sys

import data

collection, into = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
into.mkdir(parents=True, exist_ok=True)
for name, fold in data.folds(collection).items():
    (into / f"{name}.path").write_text(str(data.prepare(fold, into / name)))
