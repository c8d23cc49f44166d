"""Collections on disk to arrays: the same folds, features and held-out queries for every library."""

import gzip
import pathlib
import re
from dataclasses import dataclass

import numpy as np
import pandas
from sklearn.datasets import load_svmlight_file

OUTCOMES = ["position"]  # columns of tables that tell the label
HELD_OUT = 5  # one of so many training queries is for validation where a collection has no such split


@dataclass
class Split:
    features: np.ndarray  # [documents, features], float32
    labels: np.ndarray  # [documents], float64
    sizes: np.ndarray  # documents of each query
    categories: tuple = ()  # columns of features that are numbers of categories; NaN: none that the training split has

    @property
    def offsets(self):
        return np.concatenate([[0], np.cumsum(self.sizes)])

    def with_minmax(self):
        """The features, and beside them each scaled to [0, 1] within its query; 0 where it is constant."""
        return Split(np.hstack([self.features, self.minmax()]), self.labels, self.sizes)

    def minmax(self):
        scaled = np.zeros_like(self.features)
        for a, b in zip(self.offsets[:-1], self.offsets[1:]):
            x = self.features[a:b]
            low, high = x.min(axis=0), x.max(axis=0)
            spread = np.where(high > low, high - low, 1)
            scaled[a:b] = (x - low) / spread
        return scaled

    def take(self, queries):
        o = self.offsets
        rows = np.concatenate([np.arange(o[q], o[q + 1]) for q in queries])
        return Split(self.features[rows], self.labels[rows], self.sizes[queries])


def read(path):
    """Reads LETOR text, or SVMlight text with a file of query sizes beside it, named FILE.query."""
    path = pathlib.Path(path)
    sizes = path.with_name(path.name + ".query")
    if sizes.exists():
        x, y = load_svmlight_file(str(path), zero_based=False)
        return Split(x.toarray().astype(np.float32), y, np.loadtxt(sizes, dtype=int, ndmin=1))
    x, y, qid = load_svmlight_file(str(path), query_id=True, zero_based=False)
    return Split(x.toarray().astype(np.float32), y, sizes_of(qid))


def sizes_of(queries):
    """The documents of each query, from the query of every document."""
    starts = np.flatnonzero(np.concatenate([[True], queries[1:] != queries[:-1]]))
    return np.diff(np.append(starts, len(queries)))


def read_table(path, levels):
    """Reads CSV with the columns query, label and document. Columns of text and those named …_c are categories,
    numbered as levels has them, which the training split, read first, fills."""
    table = pandas.read_csv(path)
    features = table.drop(columns=["query", "label", "document", *OUTCOMES], errors="ignore")
    categories = [c for c in features if c.endswith("_c") or not pandas.api.types.is_numeric_dtype(features[c])]
    for c in categories:
        numbers = levels.setdefault(c, {v: i for i, v in enumerate(sorted(features[c].dropna().unique()))})
        features[c] = features[c].map(numbers)
    return Split(features.to_numpy(np.float32), table["label"].to_numpy(float), sizes_of(table["query"].to_numpy()),
                 tuple(features.columns.get_indexer(categories).tolist()))  # fmt: skip


def same_width(splits):
    """The splits with the features of the first: those of higher ids were never trained on."""
    width = splits[0].features.shape[1]
    for s in splits[1:]:
        s.features = np.pad(s.features[:, :width], ((0, 0), (0, max(0, width - s.features.shape[1]))))
    return splits


def load(folder):
    """train, vali and test of a folder that prepare gave."""
    folder, splits = pathlib.Path(folder), ("train", "vali", "test")
    if is_table(folder):
        levels = {}
        return [read_table(folder / f"{name}.csv.gz", levels) for name in splits]
    return same_width([read(folder / f"{name}.txt") for name in splits])


def test(folder):
    """The test split of such a folder, for its labels and sizes."""
    return read_table(folder / "test.csv.gz", {}) if is_table(folder) else read(folder / "test.txt")


def is_table(folder):
    return (folder / "train.csv.gz").exists()


def normalised(split):
    """Tells whether the features are scaled within queries already, as LETOR's are."""
    return np.mean(np.abs(split.minmax() - split.features) < 1e-3) > 0.95


def folds(collection):
    """The folders of a collection's folds, by name; itself where it has none."""
    found = sorted(p for p in collection.glob("Fold*") if p.is_dir())
    return {p.name: p for p in found} or {"all": collection}


def prepare(fold, into):
    """A folder with train.txt, vali.txt and test.txt that read can read: the fold itself, or one that is written."""
    if is_table(fold):
        return fold
    splits = ("train", "vali", "test")
    first = [next(lines(fold, s), "") for s in splits]
    if all(first):
        if all((fold / f"{s}.txt").exists() and re.match(r"\S+ qid:\d+ [1-9]", line) for s, line in zip(splits, first)):
            return fold
        into.mkdir(parents=True, exist_ok=True)
        for s in splits:
            rewrite(lines(fold, s), into / f"{s}.txt")
        return into
    if (into / "test.txt").exists():
        return into
    try:
        train, test = same_width([read(next(fold.glob(f"*{s}"))) for s in (".train", ".test")])
    except StopIteration:
        raise SystemExit(f"{fold}: want train, vali and test as NAME.txt, NAME.txt.gz or a folder NAME of parts, or NAME.train and NAME.test") from None
    held = np.random.default_rng(1).permutation(len(train.sizes))
    held, kept = np.sort(held[: len(held) // HELD_OUT]), np.sort(held[len(held) // HELD_OUT :])
    into.mkdir(parents=True, exist_ok=True)
    for name, split in (("train", train.take(kept)), ("vali", train.take(held)), ("test", test)):
        write(into / f"{name}.txt", split)
    return into


def lines(fold, split):
    """The LETOR text of a split: of SPLIT.txt, SPLIT.txt.gz, or the files of a folder SPLIT."""
    for path in [fold / f"{split}.txt", fold / f"{split}.txt.gz", *sorted((fold / split).glob("*"))]:
        if path.exists():
            with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as text:
                yield from text


def rewrite(text, path):
    """Writes LETOR text with queries numbered, and features from 1 where they are from 0."""
    queries = {}
    with open(path, "w") as out:
        for line in text:
            label, query, *features = line.partition("#")[0].split()
            if not queries:
                shift = 1 if features[0].startswith("0:") else 0
            number = queries.setdefault(query, len(queries) + 1)
            pairs = (f.split(":") for f in features)
            out.write(f"{label} qid:{number} " + " ".join(f"{int(i) + shift}:{value}" for i, value in pairs) + "\n")


def write(path, split):
    with open(path, "w") as out:
        for q, (a, b) in enumerate(zip(split.offsets[:-1], split.offsets[1:])):
            for row in range(a, b):
                x = split.features[row]
                values = " ".join(f"{i + 1}:{x[i]:.9g}" for i in np.flatnonzero(x))
                last = f"{len(x)}:0"  # so that every file has the width of the training split
                out.write(f"{split.labels[row]:g} qid:{q + 1} {values}{'' if x[-1] else ' ' + last}\n")
