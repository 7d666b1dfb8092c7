"""Fits src/cpu/ways_zen4.def (or its like) to samples of ways.c, and judges what is chosen (run.sh ways does both).

    python3 lab/model/fit_ways.py fit WAYS.DEF PROCESSOR samples.csv [samples.csv ...]
    python3 lab/model/fit_ways.py judge samples.csv [samples.csv ...]

fit: for each type and way the cycles of what ways.h counts, none negative, with the least absolute relative
error; types that the samples lack keep their lines. judge: how much longer the way that the library chose took
than the soonest of those that were forced.
"""
import collections
import os
import re
import textwrap

import numpy as np

import cycles

WAYS = "tiles dots parts inner across".split()


def problem(row):
    return row["type"], row["ops"], row["m"], row["n"], row["k"]


def line_of(type_name, way, costs):
    numbers = ", ".join("%.4g" % c for c in costs)
    return "\n".join(textwrap.wrap("WAY(%s, %s, %s)" % (type_name.upper(), way.upper(), numbers), 110,
                                   subsequent_indent="    "))


def fit(path, processor, names):
    lines = cycles.lines_of("WAY", path)
    groups = collections.defaultdict(list)
    for row in cycles.read(names):
        if row["way"] in WAYS:
            groups[row["type"], row["way"]].append(row)
    for (type_name, way), rows in sorted(groups.items()):
        counts = [name for name in rows[0] if re.fullmatch(r"c\d+", name)]
        costs, error = cycles.fit(np.array([[float(row[c]) for c in counts] for row in rows]), rows)
        lines[type_name.upper(), way.upper()] = line_of(type_name, way, costs)
        print("%-9s %-5s %4d samples: median error %4.1f %%, nine in ten within %3.0f %%"
              % (type_name, way, len(rows), 100 * np.median(error), 100 * np.quantile(error, 0.9)))
    with open(path, "w") as out:
        out.write("/* %s - written by `bash lab/model/run.sh ways`: cycles of the nominal clock for each count of\n"
                  " * a way (ways.h), by type. One thread, %s. Processor: %s. */\n/* clang-format off */\n"
                  % (os.path.basename(path), "AVX2" if "avx2" in path else "AVX-512", processor))
        out.write("\n".join(lines[key] for key in sorted(lines)) + "\n/* clang-format on */\n")


def judge(names):
    times = collections.defaultdict(dict)
    for row in cycles.read(names):
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


cycles.run(fit, judge, __doc__)
