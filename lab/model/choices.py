"""How good the planner's choices are: sums up a table of choices.c or rechoose.c, all problems and by kind and type.

    python3 lab/model/choices.py choices.csv [number of the worst to show]
"""
import collections
import csv
import sys


def kind(p):  # kind_of in problem.h
    m, n, k, batch = (int(p[0][x]) for x in ("m", "n", "k", "batch"))
    if batch > 1:
        return "batch"
    if k >= 8192 and max(m, n) <= 640:
        return "deep k"
    return "few rows" if m <= 64 else "few columns" if n <= 64 else "general"


def summary(name, problems):
    losses = sorted(loss for loss, _, _ in problems)
    errors = sorted(abs(float(c["predicted_seconds"]) / float(c["seconds"]) - 1) for _, c, _ in problems)
    nine = len(losses) * 9 // 10
    print(f"{name:18s} {len(losses):4d} problems: within 5 % of the best row {sum(x <= 0.05 for x in losses) / len(losses):6.1%}, "
          f"nine in ten within {losses[nine]:6.1%}; time predicted within {errors[len(errors) // 2]:6.1%} in half, {errors[nine]:6.1%} in nine of ten")


def main():
    rows = collections.defaultdict(list)
    for line in csv.DictReader(open(sys.argv[1])):
        rows[line["problem"]].append(line)
    judged = collections.defaultdict(list)
    for p in rows.values():
        chosen = [r for r in p if r["chosen"] == "1"]
        if not chosen:  # a row that was not there to be measured
            judged["not measured"].append(p)
            continue
        best = min(p, key=lambda r: float(r["seconds"]))
        found = (float(chosen[0]["seconds"]) / float(best["seconds"]) - 1, chosen[0], best)
        flags = int(chosen[0]["flags"])
        fast = (" short" if flags & 8 else "") + (" with C" if flags & 16 else "")
        for name in ("all", kind(p), chosen[0]["type"] + fast):
            judged[name].append(found)
    unknown = judged.pop("not measured", [])
    for name in sorted(judged, key=lambda x: (x != "all", "_" in x, x)):
        summary(name, judged[name])
    if unknown:
        print(f"{len(unknown)} problems: what is chosen was not measured")
    worst = sorted(judged["all"], key=lambda x: -x[0])[:int(sys.argv[2]) if len(sys.argv) > 2 else 10]
    for loss, c, b in worst:
        print(f"{loss:7.1%} {c['type']} {c['ops']} {c['m']} x {c['n']} x {c['k']} * {c['batch']}: {c['kernel']} {c['steps']} "
              f"{float(c['seconds']) * 1e6:.1f} us, {b['kernel']} {b['steps']} {float(b['seconds']) * 1e6:.1f} us")


main()
