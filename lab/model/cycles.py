"""What fit_cpu.py and fit_ways.py have in common: samples, and the cycles of what was counted in them."""
import csv
import os
import re
import sys

import numpy as np
from scipy.optimize import nnls


def read(names):
    return [row for name in names for row in csv.DictReader(open(name))]


def fit(counts, rows):
    """Cycles of each count, none negative, with the least absolute relative error, and each sample's error."""
    cycles = np.array([float(row["time_min_seconds"]) * float(row["clock_hz"]) for row in rows])
    scale = np.maximum((counts / cycles[:, None]).max(axis=0), 1e-30)  # of columns far apart
    weight = np.ones(len(rows))
    for _ in range(60):
        found = nnls((counts / scale / cycles[:, None]) * weight[:, None], weight)[0]
        weight = 1 / np.sqrt(np.maximum(np.abs(counts / scale @ found / cycles - 1), 0.02))
    return found / scale, np.abs(counts @ (found / scale) / cycles - 1)


def lines_of(macro, path):
    """The lines of a .def that is there, by their first two arguments."""
    text = open(path).read() if os.path.exists(path) else ""
    return {found.group(1, 2): found.group(0)
            for found in re.finditer(r"^%s\((\w+), (\w+),[^)]*\)" % macro, text, re.M)}


def run(fit_to, judge, usage):
    """The program: fit FILE.DEF PROCESSOR samples.csv ... or judge samples.csv ..."""
    if len(sys.argv) > 4 and sys.argv[1] == "fit":
        fit_to(sys.argv[2], sys.argv[3], sys.argv[4:])
    elif len(sys.argv) > 2 and sys.argv[1] == "judge":
        judge(sys.argv[2:])
    else:
        sys.exit(usage)
