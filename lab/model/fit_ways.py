"""Fits src/cpu/ways.def to samples of ways.c, and judges what is chosen (run.sh ways does both).

    python3 lab/model/fit_ways.py fit WAYS.DEF PROCESSOR samples.csv [samples.csv ...]
    python3 lab/model/fit_ways.py judge samples.csv [samples.csv ...]

fit: for each type and way the cycles of what ways.h counts, none negative, with the least absolute relative
error; types that the samples lack keep their lines. judge: how much longer the way that the library chose took
than the soonest of those that were forced.
"""
import collections
import csv
import os
import re
import sys
import textwrap

import numpy as np
from scipy.optimize import nnls

WAYS = "tiles dots parts inner across".split()
COUNTS = ["c%d" % i for i in range(10)]


def read(names):
    return [row for name in names for row in csv.DictReader(open(name))]


def problem(row):
    return row["type"], row["ops"], row["m"], row["n"], row["k"]


def fit_one(rows):
    x = np.array([[float(row[c]) for c in COUNTS] for row in rows])
    cycles = np.array([float(row["time_min_seconds"]) * float(row["clock_hz"]) for row in rows])
    scale = np.maximum((x / cycles[:, None]).max(axis=0), 1e-30)  # of columns far apart
    weight = np.ones(len(rows))
    for _ in range(60):
        found = nnls((x / scale / cycles[:, None]) * weight[:, None], weight)[0]
        weight = 1 / np.sqrt(np.maximum(np.abs(x / scale @ found / cycles - 1), 0.02))
    return found / scale, np.abs(x @ (found / scale) / cycles - 1)


def line_of(type_name, way, cycles):
    numbers = ", ".join("%.4g" % c for c in cycles)
    return "\n".join(textwrap.wrap("WAY(%s, %s, %s)" % (type_name.upper(), way.upper(), numbers), 110,
                                   subsequent_indent="    "))


def fit(path, processor, names):
    text = open(path).read() if os.path.exists(path) else ""
    lines = {found.group(1, 2): found.group(0) for found in re.finditer(r"^WAY\((\w+), (\w+),[^)]*\)", text, re.M)}
    groups = collections.defaultdict(list)
    for row in read(names):
        if row["way"] in WAYS:
            groups[row["type"], row["way"]].append(row)
    for (type_name, way), rows in sorted(groups.items()):
        cycles, error = fit_one(rows)
        lines[type_name.upper(), way.upper()] = line_of(type_name, way, cycles)
        print("%-9s %-5s %4d samples: median error %4.1f %%, nine in ten within %3.0f %%"
              % (type_name, way, len(rows), 100 * np.median(error), 100 * np.quantile(error, 0.9)))
    with open(path, "w") as out:
        out.write("/* %s - written by `bash lab/model/run.sh ways`: cycles of the nominal clock for each count of\n"
                  " * a way (ways.h), by type. One thread, AVX-512. Processor: %s. */\n/* clang-format off */\n"
                  % (os.path.basename(path), processor))
        out.write("\n".join(lines[key] for key in sorted(lines)) + "\n/* clang-format on */\n#undef WAY\n")


def judge(names):
    times = collections.defaultdict(dict)
    for row in read(names):
        times[problem(row)][row["way"]] = float(row["time_min_seconds"])
    groups = collections.defaultdict(list)
    for key, way in times.items():
        if "chosen" not in way or len(way) < 3:
            continue
        groups[key[0]].append((way["chosen"] / min(t for w, t in way.items() if w != "chosen"), key))
    for name, ratios in groups.items():
        r = np.array([ratio for ratio, _ in ratios])
        print("%-9s %4d problems: chosen takes %.3f of the soonest way (geometric mean), %2.0f %% above 1.15;"
              % (name, len(r), np.exp(np.mean(np.log(r))), 100 * np.mean(r > 1.15)),
              "worst %.2f %s %sx%sx%s" % ((max(ratios)[0],) + max(ratios)[1][1:]))


def main():
    if len(sys.argv) > 4 and sys.argv[1] == "fit":
        fit(sys.argv[2], sys.argv[3], sys.argv[4:])
    elif len(sys.argv) > 2 and sys.argv[1] == "judge":
        judge(sys.argv[2:])
    else:
        sys.exit(__doc__)


main()
