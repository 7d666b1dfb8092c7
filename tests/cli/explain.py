"""What explain says, worked out again independently: work, peaks, floors, the hierarchy counted tile by
tile, padding, occupancy, balance. And its screen, its refusals.
"""
import json
import math
import os
import subprocess
import sys

TOOL = os.environ["TCGEMM"]
failures = 0

# SMs, GHz, GB/s, (16-bit, 8-bit, tf32, f64, f32) multiply-adds a clock and SM; threads, registers,
# shared KiB and blocks of an SM: from the vendor's architecture papers, typed in a second time here.
GPUS = {
    "t4": (40, 1.59, 320, (512, 1024, None, 2, 64), 1024, 64, 16, 0),
    "a100": (108, 1.41, 2039, (1024, 2048, 512, 64, 64), 2048, 164, 32, 1),
    "rtx4090": (128, 2.52, 1008, (256, 1024, 128, 2, 128), 1536, 100, 24, 1),
    "orin": (16, 1.3, 205, (1024, 2048, 512, 64, 128), 1536, 164, 16, 1),
    "h200": (132, 1.98, 4800, (2048, 4096, 1024, 128, 128), 2048, 228, 32, 1),
}
RATE = {"f16_f32": 0, "bf16_f32": 0, "f16_f16": 0, "s8_s32": 1, "u8_s32": 1, "tf32_f32": 2, "f64_f64": 3, "f32_f32": 4}
BYTES = {"f16": 2, "bf16": 2, "tf32": 4, "f32": 4, "f64": 8, "s8": 1, "u8": 1, "s32": 4}


def fail(text):
    global failures
    failures += 1
    print("FAIL:", text)


def run(*arguments):
    return subprocess.run([TOOL, "explain", *map(str, arguments)], capture_output=True, text=True, timeout=60)


def near(name, got, wanted, tolerance=1e-9):
    if not abs(got - wanted) <= tolerance * max(1e-30, abs(wanted)):
        fail(f"{name}: {got}, worked out {wanted}")


def spans(size, part):
    """The tiles of one dimension as lengths."""
    return [min(part, size - at) for at in range(0, size, part)] if size else []


def check_levels(what, x, m, n, k, batch, a_bytes, b_bytes):
    """Walks the hierarchy along each dimension and counts tiles and reads."""
    rows, cols = [m], [n]  # lengths of all tiles of the level above, along m and along n
    for level in x["levels"]:
        rows = [r for above in rows for r in spans(above, level["m"])]
        cols = [c for above in cols for c in spans(above, level["n"])]
        if sum(rows) != m or sum(cols) != n:
            fail(f"{what} {level['name']}: tiles do not cover D")
        # An element of A stands in one row of tiles and is read by every column of them.
        near(f"{what} {level['name']} A moved", level["a_bytes"], batch * m * k * a_bytes * level["a_reads"])
        near(f"{what} {level['name']} B moved", level["b_bytes"], batch * k * n * b_bytes * level["b_reads"])
        if level["a_reads"] < len(cols) or level["b_reads"] < len(rows):
            fail(f"{what} {level['name']}: fewer reads than tiles, {level['a_reads']} {len(cols)}")
        if m * n * k:
            near(f"{what} {level['name']} reuse", level["multiply_adds_per_byte"],
                 batch * m * n * k / (level["a_bytes"] + level["b_bytes"]))
    block = x["levels"][1]
    near(f"{what} reads of A by blocks", block["a_reads"], math.ceil(n / block["n"]))
    near(f"{what} reads of B by blocks", block["b_reads"], math.ceil(m / block["m"]))
    near(f"{what} steps", x["k_steps"], math.ceil(k / block["k"]))
    for size, letter in ((m, "m"), (n, "n"), (k, "k")):
        padded = x["padded"][letter]
        if padded < size or (size and padded - size >= max(l[letter] for l in x["levels"][1:])):
            fail(f"{what} padded {letter}: {padded}")


def check_occupancy(what, x, gpu):
    _, _, _, _, threads, smem_kib, slots, reserved = GPUS[gpu]
    launch, o = x["launch"], x["launch"]["occupancy"]
    block, registers = launch["threads_per_block"], launch["registers_per_thread"]
    by_registers = 65536 // (math.ceil(registers * 32 / 256) * 256) // (block // 32)
    smem = launch["smem_bytes"] + 1024 * reserved
    by_smem = smem_kib * 1024 // smem if smem else slots
    wanted = {"by_threads": threads // block, "by_registers": by_registers, "by_smem": by_smem, "by_slots": slots}
    for name, value in wanted.items():
        near(f"{what} {name}", o[name], value)
    near(f"{what} blocks", o["blocks_per_sm"], min(wanted.values()))
    near(f"{what} warps", o["warps_per_sm"], min(wanted.values()) * block // 32)


def check(gpu, kind, m, n, k, *more, batch=1, beta=0):
    arguments = [m, n, k, "--type", kind, "--json", *more]
    if gpu:
        arguments += ["--gpu", gpu]
    what = " ".join(map(str, arguments))
    done = run(*arguments)
    if done.returncode != 0:
        fail(f"{what}: {done.returncode} {done.stderr}")
        return
    x = json.loads(done.stdout)
    a, d = kind.split("_")
    work, machine = x["work"], x["machine"]
    near(f"{what} eOPS", work["eops"], batch * (m * k + (2 * k - 1) * m * n + 2 * m * n))
    near(f"{what} operations", work["operations"], batch * 2 * m * n * k)
    moved = batch * ((m * k + k * n) * BYTES[a] + m * n * BYTES[d] * (2 if beta else 1))
    near(f"{what} bytes", work["bytes"], moved)
    near(f"{what} intensity", work["operations_per_byte"], batch * 2 * m * n * k / moved)
    if gpu:
        sms, ghz, gbps, rates = GPUS[gpu][:4]
        peak = 2 * sms * rates[RATE[kind]] * ghz * 1e9
        near(f"{what} peak", machine["peak_ops_per_second"], peak)
        near(f"{what} bandwidth", machine["bandwidth_bytes_per_second"], gbps * 1e9)
        check_occupancy(what, x, gpu)
        tile = x["levels"][1]
        taken = 0
        for s in x["steps"]:
            if s["name"] == "product":
                tiles = math.ceil(s["rows"] / tile["m"]) * math.ceil(s["cols"] / tile["n"]) * batch * s["splits"]
                taken += s["rows"] * s["cols"] / (tiles / (sms * math.ceil(tiles / sms)))
        near(f"{what} balance", x["estimates"][0]["wave_efficiency"], m * n / taken)
        whole = math.ceil(m / tile["m"]) * tile["m"] * math.ceil(n / tile["n"]) * tile["n"]
        whole *= math.ceil(k / tile["k"]) * tile["k"]
        near(f"{what} padding", x["estimates"][0]["tile_efficiency"], m * n * k / whole)
    peak, bandwidth = machine["peak_ops_per_second"], machine["bandwidth_bytes_per_second"]
    near(f"{what} floor", work["multiply_floor_seconds"], work["operations"] / peak)
    near(f"{what} memory floor", work["memory_floor_seconds"], work["bytes"] / bandwidth)
    memory = work["bytes"] / bandwidth > work["operations"] / peak
    if work["bound_by"] != ("memory" if memory else "peak"):
        fail(f"{what}: bound by {work['bound_by']}")
    seconds = x["predicted_seconds"]
    near(f"{what} fraction", x["predicted_fraction_of_peak"], work["operations"] / seconds / peak)
    first = x["estimates"][0]
    if first["kernel"] != x["kernel"]:
        fail(f"{what}: the first estimate is not the plan's")
    parts = sum(first["parts_seconds"].values())
    beside = first["memory_seconds"] + sum(first["parts_seconds"].get(x, 0) for x in ("launch", "exposed", "pack", "reduce"))
    near(f"{what} parts", first["predicted_seconds"], max(parts, beside), 1e-9)
    if gpu and m * n * k * batch > 0 and not first["parts_seconds"]["multiply"] > 0:
        fail(f"{what}: multiplying takes no time")
    if any(e["predicted_seconds"] < seconds for e in x["estimates"][1:]) and not {"--algo", "--kernel"} & set(arguments):
        if gpu:
            fail(f"{what}: the plan is not the fastest of its estimates")
    check_levels(what, x, m, n, k, batch, BYTES[a], BYTES[a])


def refuse(status, sentence, *arguments):
    done = run(*arguments)
    if done.returncode != status or sentence not in done.stderr or done.stderr.count("\n") > 2 or done.stdout:
        fail(f"explain {arguments}: {done.returncode} {done.stderr!r} {done.stdout[:80]!r}")


def check_simulation(depths, *arguments):
    done = run(*arguments, "--simulate")
    lines = done.stdout.splitlines()
    right = sum(line.rstrip().endswith(" right") for line in lines)
    if done.returncode != 0 or done.stderr or right != depths or max(map(len, lines)) > 100:
        fail(f"simulate {arguments}: {done.returncode} {done.stderr} {done.stdout}")
    told = run(*arguments, "--trace", "--json")
    x = json.loads(told.stdout)
    if told.returncode != 0 or len(x["nests"]) != depths or not x["trace"]:
        fail(f"trace {arguments}: {told.returncode} {told.stderr} {told.stdout[:200]}")


def main():
    if os.path.exists(os.path.join(os.environ["TCGEMM_BUILD_DIR"], "src/emulate/emulate-sm80.so")):
        check_simulation(4, 100, 90, 80, "--type", "f16_f32", "--gpu", "h200", "--trans-b")
        check_simulation(4, 41, 67, 130, "--type", "s8_s32", "--gpu", "orin", "--algo", "wmma-direct",
                         "--tile", "32x8x16")
        check_simulation(4, 41, 67, 130, "--type", "f32_f32", "--gpu", "t4", "--algo", "simt-outer",
                         "--order", "col")
    check_simulation(4, 33, 70, 50, "--type", "f64_f64", "--device", "cpu", "--alpha", 2, "--beta", -1)
    refuse(2, "a simulation is printed as text or as JSON", "30", "--simulate", "--format", "csv")
    refuse(2, "walks through each of the", "3000", "--simulate", "--gpu", "orin")
    check("orin", "s8_s32", 10000, 10000, 10000)
    check("h200", "bf16_f32", 8192, 8192, 8192)
    check(None, "f64_f64", 1000, 1001, 999)
    check(None, "s8_s32", 300, 70, 1000, "--threads", 1)
    check(None, "bf16_f32", 33, 4000, 129, "--order", "col", "--trans-a")
    for gpu in GPUS:
        for kind in ("f16_f32", "s8_s32", "f32_f32"):
            check(gpu, kind, 1000, 1001, 999)
            check(gpu, kind, 129, 4000, 77, "--trans-a", "--order", "col")
            check(gpu, kind, 64, 64, 64, "--batch", 37, batch=37)
    check("a100", "tf32_f32", 777, 888, 999, "--beta", 2, beta=2)
    memory = json.loads(run("8192", "8192", "16", "--gpu", "rtx5090", "--json").stdout)
    if memory["predicted_seconds"] < memory["work"]["memory_floor_seconds"]:
        fail(f"faster than the memory: {memory['predicted_seconds']}")
    one, many = (json.loads(run("64", "64", "64", "--threads", "1", "--device", "cpu", "--batch", b, "--json").stdout)["predicted_seconds"]
                 for b in ("1", "100"))
    if not 90 * one < many < 110 * one:
        fail(f"a hundred products take {many} s, one of them {one} s")
    even, odd = (json.loads(run("4096", "4096", k, "--type", "f16_f32", "--gpu", "h200", "--json").stdout)["predicted_seconds"]
                 for k in ("4096", "4095"))
    if not odd > 1.02 * even:
        fail(f"rows that are not aligned take {odd} s, aligned ones {even} s")
    check("h200", "f64_f64", 512, 512, 4096, "--algo", "wmma-direct")
    check("h200", "f16_f16", 3000, 200, 100, "--algo", "wmma-shared")

    for size, bound in (("1", "the launch"), ("512", "the memory"), ("8192", "the peak")):
        if f": {bound} bounds it\n" not in run(size, "--type", "f16_f32", "--gpu", "h200").stdout:
            fail(f"a product of {size} on an H200 is not bounded by {bound}")

    for arguments in (["10000", "10000", "10000", "--type", "s8_s32", "--gpu", "orin"], ["1000x1001x999"],
                      ["100000", "--type", "bf16_f32", "--gpu", "b200"], ["0", "5", "5"],
                      ["7", "5", "0", "--gpu", "t4"], ["30", "--algo", "reference", "--device", "cpu"]):
        done = run(*arguments)
        lines = done.stdout.splitlines()
        if done.returncode != 0 or done.stderr or not 10 <= len(lines) <= 40 or max(map(len, lines)) > 100:
            fail(f"explain {arguments}: {done.returncode} {done.stderr} {len(lines)} lines, widest "
                 f"{max(map(len, lines), default=0)}")
        for word in ("peak", "floor", "predicted", "kernel"):
            if not any(line.startswith(word) for line in lines):
                fail(f"explain {arguments}: no line on {word}")
        if "nan" in done.stdout or "inf" in done.stdout.replace("info", ""):
            fail(f"explain {arguments}: {done.stdout}")

    refuse(2, "--gpu: no GPU 'voodoo2' is known, only", "64", "--gpu", "voodoo2")
    refuse(2, "give one of them", "64", "--gpu", "orin", "--device", "cpu")
    refuse(2, "two sizes are given", "64", "64")
    refuse(2, "sizes are given twice", "64", "--shape", "64")
    refuse(2, "one operand too many", "1", "2", "3", "4")
    refuse(2, "-m, -n and -k are needed")
    refuse(4, "has no tile '3x3x3'", "64", "--gpu", "orin", "--type", "s8_s32", "--algo", "wmma-direct", "--tile", "3x3x3")
    refuse(4, "has no kernel for type f16_f32 on this GPU, nor for any other type", "64", "--gpu", "v100", "--type",
           "f16_f32")
    refuse(4, "has no kernel for type s4_s32 on this GPU, only for f16_f32, ", "64", "--gpu", "h200", "--type", "s4_s32")
    print(f"{failures} failures")
    sys.exit(1 if failures else 0)


main()
