"""The tables of peers, in which new results take the place of old ones of the same fits."""

import csv


def fit_of(row):
    return row["set"], row["fold"], row["method"]


def update(path, columns, rows):
    """Writes rows to a CSV file, and keeps what it says of other fits, which were made in another folder."""
    made = {fit_of(row) for row in rows}
    if path.exists():
        with open(path, newline="") as earlier:
            rows = rows + [row for row in csv.DictReader(earlier) if fit_of(row) not in made]
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda row: (*fit_of(row), int(row.get("seed", 0)))))
