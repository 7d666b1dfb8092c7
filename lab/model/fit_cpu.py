"""Fits the constants of src/cpu/model.c to samples of sample_cpu.c.

    python3 lab/model/fit_cpu.py samples.csv

The samples carry the parts of the model as it stands; printed are, for each type, the factors that
those parts want (least absolute relative error, none negative) and the errors with them. Multiply
the columns along, across and store of src/base/types.def by them. One thread, an idle machine.
"""
import collections
import csv
import sys

import numpy as np

WIDTHS = {"f32_f32": (48, 8), "f64_f64": (24, 8)}  # register tile: panels this narrow stay unpacked


def features(row):
    m, n, batch = (int(row[x]) for x in ("m", "n", "batch"))
    nr, mr = WIDTHS.get(row["type"], (0, 0))
    a = m if n > nr else 0
    b = n if not (m <= mr and row["ops"][1] == "N") else 0
    pack = float(row["pack"])
    of_a = pack * a / (a + b) if a + b else 0.0
    of_b = pack - of_a
    along = (of_a if row["ops"][0] == "N" else 0.0) + (of_b if row["ops"][1] == "T" else 0.0)
    return [float(row["multiply"]), along, pack - along, float(row["store"]), 1e-6 * batch]


def fit(x, seconds):
    weight, best = np.ones(len(seconds)), None
    for _ in range(30):
        active = list(range(x.shape[1]))
        while True:
            scaled = (x[:, active].T * (weight / seconds)).T
            found = np.linalg.lstsq(scaled, weight, rcond=None)[0]
            if (found >= 0).all():
                break
            active.pop(int(np.argmin(found)))
        best = np.zeros(x.shape[1])
        best[active] = found
        weight = 1 / np.sqrt(np.maximum(np.abs(x @ best / seconds - 1), 0.01))
    return best


def main():
    by_type, errors = collections.defaultdict(list), []
    for row in csv.DictReader(open(sys.argv[1])):
        by_type[row["type"]].append(row)
    print("type        multiply  along across  store  call us   median error, nine in ten")
    for name, rows in by_type.items():
        x, seconds = np.array([features(r) for r in rows]), np.array([float(r["seconds"]) for r in rows])
        c = fit(x, seconds)
        e = np.abs(x @ c / seconds - 1)
        errors += list(e)
        print("%-10s  %8.3f %6.2f %6.2f %6.2f %8.3f   %.3f %.3f" % (name, *c, np.median(e), np.quantile(e, 0.9)))
    print("%d samples: median error %.3f, nine in ten within %.3f" % (len(errors), np.median(errors),
                                                                       np.quantile(errors, 0.9)))


main()
