"""Fits the planner's model of the GPU (src/gpu/model.c) to samples of sample.c.

    bash lab/model/run.sh fit samples.csv[,choices.csv...] [--write src/gpu/measured/cost.def]

Of choices.c the products of one step count. Types whose kernels are alike share a line. One line of constants for each GPU row (lab/rows.c prints them), by coordinate descent on the sum of |log error|,
with outliers beyond 20 % counting less. Prints the errors that remain.
"""
import collections
import csv
import math
import os
import re
import sys

SMS, CLOCK, BANDWIDTH = 132, 1.98e9, 4.8e12  # the H200 that was measured
LAUNCH, MEMORY_EFFICIENCY, COPYING, AGAIN, BEYOND, UNALIGNED_D = 2.0e-6, 0.85, 1.1, 0.2, 1.0, 3.5  # as in src/gpu/model.c
BYTES = {"f16": 2, "bf16": 2, "tf32": 4, "f32": 4, "f64": 8, "s8": 1, "u8": 1, "u8s8": 1, "s8u8": 1, "s32": 4, "e4m3": 1, "e5m2": 1}
# Types whose kernels take the same time: bf16 as f16, bytes of any sign, both formats of FP8.
LIKE = {"f16_f32": "bf16_f32", "f16_f16": "bf16_bf16", "u8_s32": "s8_s32", "u8s8_s32": "s8_s32", "s8u8_s32": "s8_s32",
        "e5m2_f32": "e4m3_f32", "e5m2_bf16": "e4m3_bf16"}
NAMES = ("macs", "wait", "start", "finish", "narrow", "nt", "tn", "tt")


def read_rows(path):
    rows = {}
    for line in open(path):
        found = re.match(r"TCGEMM_GPU\((.*)\)", line)
        if not found:
            continue
        f = [x.strip() for x in found.group(1).split(",")]
        name = f"{f[0]}_{f[1]}_{f[6]}x{f[7]}x{f[8]}_{f[3]}"
        streams = {"rows": "B", "columns": "A"}[f[3]] if f[0] == "stream" else ""
        rows[name] = dict(type=f[1], boxes=f[0] == "wgmma", streams=streams, bm=int(f[6]), bn=int(f[7]), bk=int(f[8]), wm=int(f[9]), wn=int(f[10]),
                          smem=int(f[16]), resident=int(f[17]), warps=int(f[14]) // 32,
                          line=line)
    return rows


def read_samples(path, rows):
    samples, best = collections.defaultdict(list), {}
    lines = [s for one in path.split(",") for s in csv.DictReader(open(one))]
    for s in lines:
        row = rows.get(s["kernel"].removeprefix("gpu_"))
        of_type = s.get("type") or (row["type"] if row else "")
        s["problem"] = (of_type, s.get("flags"), s["ops"], s["m"], s["n"], s["k"], s["batch"])
        best[s["problem"]] = min(best.get(s["problem"], 1e9), float(s["seconds"]))
    for s in lines:
        name = s["kernel"].removeprefix("gpu_")
        if name not in rows or name.startswith("batched_") or s.get("steps", "P") != "P":
            continue
        row = rows[name]
        m, n, k, batch = (int(s[x]) for x in ("m", "n", "k", "batch"))
        a, d = row["type"].split("_")
        ld_a, ld_b = (m if s["ops"][0] == "T" else k), (k if s["ops"][1] == "T" else n)
        aligned = [math.gcd(ld * BYTES[a], 16) for ld in (ld_a, ld_b)]
        tiles = math.ceil(m / row["bm"]) * math.ceil(n / row["bn"]) * batch
        rounds, rest = divmod(tiles, SMS * row["resident"])
        step_k = row["bk"] * (row["warps"] if row["streams"] else 1)
        padded_k = math.ceil(k / step_k) * step_k
        of_d = 1.0 if n * BYTES[d] % 16 == 0 or m == 1 else UNALIGNED_D
        memory = batch * ((m * k + k * n) * BYTES[a] + m * n * BYTES[d] * of_d) / (MEMORY_EFFICIENCY * BANDWIDTH)
        again = batch * k * BYTES[a] * (m * (math.ceil(n / row["bn"]) - 1) + n * (math.ceil(m / row["bm"]) - 1))
        again *= AGAIN / (MEMORY_EFFICIENCY * BANDWIDTH)
        tiles_m, tiles_n = math.ceil(m / row["bm"]), math.ceil(n / row["bn"])
        memory *= 1 + BEYOND * ((row["bm"] - m / tiles_m) / row["bn"] + (row["bn"] - n / tiles_n) / row["bm"]) * row["boxes"]
        samples[name].append(dict(ops=s["ops"], rounds=rounds, rest=rest, k=padded_k, memory=memory, again=again, aligned=aligned,
                                  seconds=float(s["seconds"]), m=m, n=n, depth=k, batch=batch, best=best[s["problem"]]))
    return samples


def share_types(rows, samples):
    """The samples of types that are alike under the name of one of them."""
    names = {}
    for name, row in rows.items():
        names[name] = name.replace(f"_{row['type']}_", f"_{LIKE.get(row['type'], row['type'])}_", 1)
        if names[name] not in rows:  # no row of that type has this tile
            names[name] = name
    for name, like in names.items():
        if name != like:
            samples[like] += samples.pop(name, [])
    return names


def share_kernels(rows, samples):
    """The kernels of stream serve two rows each, which have one line: few rows of D and few columns."""
    for name in [name for name, row in rows.items() if row["streams"]]:
        row = rows.pop(name)
        line = f"stream_{row['type']}_{min(row['bm'], row['bn'])}"
        rows.setdefault(line, row)
        for s in samples.pop(name, []):
            s["row"] = row
            samples[line].append(s)


def predict(c, row, s):
    """src/gpu/model.c in Python."""
    macs, wait, start, finish, narrow, nt, tn, tt = c
    row = s.get("row", row)
    def loads(aligned):
        if aligned >= 16:
            return 1.0
        return narrow if row["smem"] == 0 or aligned < 4 else min(narrow, 1 + math.log2(16 / aligned))

    factor = {"NN": 1.0, "NT": nt, "TN": tn, "TT": tt}[s["ops"]]
    if row["streams"]:
        is_a = row["streams"] == "A"
        in_k = s["ops"][0] == "N" if is_a else s["ops"][1] == "T"
        lines, of_tile = (s["m"], row["bm"]) if is_a else (s["n"], row["bn"])
        needed = 16 if in_k else min(16, 4 * BYTES[row["type"].split("_")[0]])
        is_narrow = lines < of_tile or s["aligned"][0 if is_a else 1] < needed
        factor = (narrow if is_narrow else 1.0) if in_k else tn if is_narrow else nt
        rounds = s["rounds"] + (s["rest"] > 0)
        cycles = start + rounds * (finish + s["k"] * factor * row["bm"] * row["bn"] / macs)
        return LAUNCH + max(cycles / CLOCK, s["memory"])
    if min(s["aligned"]) < 16 and not row["boxes"]:
        a, b = (loads(aligned) for aligned in s["aligned"])
        factor = (a + b) / 2 if row["smem"] == 0 else max(a, b)

    # Without shared memory a warp at the edge, and the last step of k, load element by element.
    whole, slow = s["k"] * factor, 0.0
    if row["smem"] == 0 and narrow > factor:
        whole += row["bk"] * (narrow - factor) if s["depth"] % row["bk"] else 0.0
        if s["m"] % row["wm"] or s["n"] % row["wn"]:
            slow = s["k"] * (narrow - factor) * (wait + row["bm"] * row["bn"] / macs)

    def round_cycles(blocks, share):
        step = wait + blocks * row["bm"] * row["bn"] / macs
        return start + finish * blocks * share + whole * step

    cycles = s["rounds"] * round_cycles(row["resident"], 1.0)
    if s["rest"]:
        cycles += round_cycles(math.ceil(s["rest"] / SMS), min(1.0, s["rest"] / SMS))
    cycles += slow
    memory = s["memory"] * narrow + s["again"] if row["boxes"] else COPYING * s["memory"]
    return LAUNCH + max(cycles / CLOCK, memory)


def fit(row, samples):
    alone = row["resident"] == 1
    # What the planner wants is the order of the rows: those near the best of a problem are to be right, and those
    # that are slower are not to be promised below it.
    def loss(c):
        total = 0.0
        for s in samples:
            predicted = predict(c, row, s)
            e = abs(math.log(predicted / s["seconds"]))
            near = s["seconds"] < 1.15 * s["best"]
            total += (2.0 if near else 0.7) * (e if e < 0.2 else 0.2 + 0.7 * (e - 0.2))
            if s["seconds"] > 1.05 * s["best"]:
                total += 2.0 * max(0.0, math.log(min(1.05 * s["best"], s["seconds"]) / predicted))
        return total

    def descend(best):
        least, step = loss(best), 0.4
        while step > 0.002:
            better = False
            for i in range(len(best)):
                for factor in (math.exp(step), math.exp(-step)):
                    tried = best[:]
                    tried[i] *= factor
                    e = loss(tried)
                    if e < least - 1e-9:
                        best, least, better = tried, e, True
            if not better:
                step /= 2
        return least, best

    # The speed of the longest products is about right to begin with; the valley has side arms.
    rate = max(s["m"] * s["n"] * s["depth"] * s["batch"] / s["seconds"] for s in samples) / CLOCK / SMS
    starts = [[rate * r, 0.0 if alone else w, o, o, 2.0, 1.0, 1.0, 1.0]
              for r in (1.0, 1.15) for w in (0.5, 10.0) for o in (500.0, 3000.0)]
    return min(descend(list(start)) for start in {tuple(start) for start in starts})[1]


def quantiles(errors):
    e = sorted(abs(x) for x in errors)
    return e[len(e) // 2], e[int(0.9 * len(e))], sum(x <= 0.25 for x in e) / len(e)


HEAD = """/* cost.def - what each GPU row costs: the constants of src/gpu/model.c, as measured on an
 * H200. Written by lab/model/run.sh fit, but for rows of sm_75, which an H200 does not run: estimates;
 * and for those of batched, which model.c reckons in a way of their own.
 * A row without a line is reckoned with caution until it is measured (src/gpu/measured.c).
 *
 * TCGEMM_COST(row, macs, wait, start, finish, narrow, nt, tn, tt)
 *
 *   row     name of the row without gpu_
 *   macs    multiply-adds per clock and SM, A and B as stored (NN), rows aligned to 16 bytes
 *   wait    cycles for each element of k that resident blocks do not hide from one another
 *   start   cycles until the first product of a round of blocks
 *   finish  cycles to write D, for each resident block, while all SMs write
 *   narrow  times slower if rows of A or B are not aligned to 16 bytes; of kernels that fetch boxes,
 *           times longer that the bytes of A, B and D take
 *   nt tn tt   times slower (or faster) with B, A or both transposed; of kernels that stream an operand, nt
 *           with its lines side by side, and tn where they are then not aligned, too
 *
 * Of kernels whose warps take items: wait while a warp is alone, start once, finish for each group of
 * items.
 */
#ifndef TCGEMM_COST
#define TCGEMM_COST(row, macs, wait, start, finish, narrow, nt, tn, tt)
#endif

"""


def main():
    rows = read_rows(sys.argv[1])
    samples = read_samples(sys.argv[2], rows)
    share_kernels(rows, samples)
    likes = share_types(rows, samples)
    fitted = {}
    lines, errors, by_shape = [], [], collections.defaultdict(list)
    old = {}
    target = sys.argv[4] if len(sys.argv) > 4 and sys.argv[3] == "--write" else None
    if target and os.path.exists(target):
        for line in open(target):
            found = re.match(r"TCGEMM_COST\((\w+)", line)
            if found:
                old[found.group(1)] = line
    for name, row in rows.items():
        if not samples.get(likes[name]):  # not for the device that was measured: what stood there stays
            lines.append(old.get(name, f"/* {name}: not measured */\n"))
            continue
        if likes[name] in fitted:
            lines.append(fitted[likes[name]] % name)
            continue
        if likes[name] != name:
            row = rows[likes[name]]
        of_row, name, own_name = samples[likes[name]], likes[name], name
        c = fit(row, of_row)
        e = [predict(c, row, s) / s["seconds"] - 1 for s in of_row]
        errors += e
        for s, x in zip(of_row, e):
            by_shape[(s["ops"], s["m"], s["n"], s["depth"], s["batch"])].append(x)
        print("%-48s median %.3f nine in ten %.3f" % (name, *quantiles(e)[:2]))
        c[1] = 0.0 if c[1] < 1e-4 else c[1]
        c[2:4] = [0.0 if x < 1 else x for x in c[2:4]]
        fitted[name] = "TCGEMM_COST(%%-44s, %6.1f, %6.4g, %6.0f, %6.0f, %.2f, %.2f, %.2f, %.2f)\n" % tuple(c)
        lines.append(fitted[name] % own_name)
    for shape, e in sorted(by_shape.items()):
        print("%-36s median %.3f" % (shape, sorted(e)[len(e) // 2]))
    print("%d samples: median error %.3f, nine in ten within %.3f, within 25 %%: %.3f" % (len(errors), *quantiles(errors)))
    if target:
        with open(target, "w") as out:
            out.write(HEAD + "".join(lines) + "\n#undef TCGEMM_COST\n")


main()
