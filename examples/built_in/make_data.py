#!/usr/bin/env python3
"""Writes data sets that scikit-learn brings with it as CSV files: no header, the target first.

usage: make_data.py [FOLDER]
"""

import csv
import pathlib
import sys

from sklearn import datasets

SETS = {"breast_cancer": datasets.load_breast_cancer, "diabetes": datasets.load_diabetes, "digits": datasets.load_digits}


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    for name, load in SETS.items():
        data = load()
        with open(folder / f"{name}.csv", "w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerows([target, *values] for target, values in zip(data.target.tolist(), data.data.tolist()))


if __name__ == "__main__":
    main()
