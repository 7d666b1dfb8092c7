"""Fits src/cpu/cost.def to samples of sample_cpu.c, and judges predictions (run.sh cpu does both).

    python3 lab/model/fit_cpu.py fit COST.DEF PROCESSOR samples.csv [samples.csv ...]
    python3 lab/model/fit_cpu.py judge samples.csv [samples.csv ...]

fit: for each instruction set and type the cycles of what cost.h counts, none negative, with the least
absolute relative error; types that the samples lack keep their lines. judge: how far predicted_seconds of
the samples, which the library itself put there, are from the time.
"""
import collections
import os
import textwrap

import numpy as np

import cycles

COUNTS = ("call item tile edge multiply a_along a_across b_along b_across panel a_piece b_piece "
          "row in_place own store far far_a far_b far_d again line dot across across_dot tile_line inner inner_sum").split()


def isa(row):
    return row["kernel"].split("_")[1]


def line_of(isa_name, type_name, costs):
    numbers = ", ".join("%.4g" % c for c in costs)
    return "\n".join(textwrap.wrap("COST(%s, %s, %s)" % (isa_name, type_name.upper(), numbers), 110,
                                   subsequent_indent="     "))


def fit(path, processor, names):
    groups = collections.defaultdict(list)
    for row in cycles.read(names):
        groups[isa(row), row["type"]].append(row)
    lines, errors = cycles.lines_of("COST", path), []
    for (isa_name, type_name), rows in sorted(groups.items()):
        if isa_name not in ("avx2", "avx512", "amx"):
            continue
        counts = np.array([[float(row[c]) * int(row["batch"]) for c in COUNTS] for row in rows])
        costs, error = cycles.fit(counts, rows)
        errors += list(error)
        lines[isa_name, type_name.upper()] = line_of(isa_name, type_name, costs)
        error = 100 * error
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
    for row in cycles.read(names):
        error = abs(float(row["predicted_seconds"]) / float(row["time_min_seconds"]) - 1)
        groups[row["type"]].append(error)
        groups["all"].append(error)
    for name, errors in groups.items():
        e = np.array(errors)
        print("%-10s %5d problems: median error %4.1f %%," % (name, len(e), 100 * np.median(e)),
              "nine in ten within %3.0f %%, %3.0f %% within 25 %%" % (100 * np.quantile(e, 0.9),
                                                                     100 * np.mean(e <= 0.25)))


cycles.run(fit, judge, __doc__)
