"""Fits src/cpu/cost.def to samples of sample_cpu.c, and judges predictions (run.sh cpu does both).

    python3 lab/model/fit_cpu.py fit COST.DEF PROCESSOR samples.csv [samples.csv ...]
    python3 lab/model/fit_cpu.py judge samples.csv [samples.csv ...]

fit: for each instruction set and type the cycles of what cost.h counts, none negative, with the least
absolute relative error; types that the samples lack keep their lines. judge: how far predicted_seconds of
the samples, which the library itself put there, are from the time.
"""
import collections
import csv
import os
import re
import sys
import textwrap

import numpy as np
from scipy.optimize import nnls

COUNTS = ("call item tile edge multiply a_along a_across b_along b_across panel a_piece b_piece "
          "row in_place own store far far_a far_b far_d again line dot across across_dot tile_line inner inner_sum").split()


def read(names):
    return [row for name in names for row in csv.DictReader(open(name))]


def isa(row):
    return row["kernel"].split("_")[1]


def fit_one(rows):
    x = np.array([[float(r[c]) * int(r["batch"]) for c in COUNTS] for r in rows])
    cycles = np.array([float(r["time_min_seconds"]) * float(r["clock_hz"]) for r in rows])
    scale = np.maximum((x / cycles[:, None]).max(axis=0), 1e-30)  # of columns far apart
    weight = np.ones(len(rows))
    for _ in range(60):
        found = nnls((x / scale / cycles[:, None]) * weight[:, None], weight)[0]
        weight = 1 / np.sqrt(np.maximum(np.abs(x / scale @ found / cycles - 1), 0.02))
    return found / scale, x @ (found / scale) / cycles - 1


def line_of(isa_name, type_name, costs):
    numbers = ", ".join("%.4g" % c for c in costs)
    return "\n".join(textwrap.wrap("COST(%s, %s, %s)" % (isa_name, type_name.upper(), numbers), 110,
                                   subsequent_indent="     "))


def lines_of(path):
    """The lines of a cost.def that is there: {(instruction set, type): line}."""
    text = open(path).read() if os.path.exists(path) else ""
    return {found.group(1, 2): found.group(0)
            for found in re.finditer(r"^COST\((\w+), (\w+),[^)]*\)", text, re.M)}


def fit(path, processor, names):
    groups = collections.defaultdict(list)
    for row in read(names):
        groups[isa(row), row["type"]].append(row)
    lines, errors = lines_of(path), []
    for (isa_name, type_name), rows in sorted(groups.items()):
        if isa_name not in ("avx2", "avx512", "amx"):
            continue
        costs, error = fit_one(rows)
        errors += list(np.abs(error))
        lines[isa_name, type_name.upper()] = line_of(isa_name, type_name, costs)
        error = 100 * np.abs(error)
        print("%-7s %-10s %4d samples: median error %4.1f %%, nine in ten within %3.0f %%"
              % (isa_name, type_name, len(rows), np.median(error), np.quantile(error, 0.9)))
    print("all: median error %.1f %%" % (100 * np.median(errors)))
    head = ("/* %s - written by `bash lab/model/run.sh cpu fit`: cycles of the nominal clock for each\n"
            " * thing that cost.h counts, in its order, by instruction set and type. One thread, products of\n"
            " * random shapes, %d when it was last written. Processor: %s. */\n"
            % (os.path.basename(path), len(errors), processor))
    with open(path, "w") as out:
        order = sorted(lines, key=lambda key: (key[0], key[1].lower()))
        out.write(head + "/* clang-format off */\n" + "\n".join(lines[key] for key in order))
        out.write("\n/* clang-format on */\n#undef COST\n")


def judge(names):
    groups = collections.defaultdict(list)
    for row in read(names):
        error = abs(float(row["predicted_seconds"]) / float(row["time_min_seconds"]) - 1)
        groups[row["type"]].append(error)
        groups["all"].append(error)
    for name, errors in groups.items():
        e = np.array(errors)
        print("%-10s %5d problems: median error %4.1f %%," % (name, len(e), 100 * np.median(e)),
              "nine in ten within %3.0f %%, %3.0f %% within 25 %%" % (100 * np.quantile(e, 0.9),
                                                                     100 * np.mean(e <= 0.25)))


def main():
    if len(sys.argv) > 4 and sys.argv[1] == "fit":
        fit(sys.argv[2], sys.argv[3], sys.argv[4:])
    elif len(sys.argv) > 2 and sys.argv[1] == "judge":
        judge(sys.argv[2:])
    else:
        sys.exit(__doc__)


main()
