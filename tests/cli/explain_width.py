"""No line that `explain` writes is wider than a screen of 100 columns: on processors of every level, on every
GPU that is known, for sizes from one element to what no memory holds.
"""
import os
import subprocess
import sys

TOOL = os.environ["TCGEMM"]
GPUS = ("t4", "a100", "a10", "rtx3090", "orin", "l4", "l40s", "rtx4090", "h100", "h200", "b200", "rtx5090")
TYPES = ("f16_f32", "f32_f32", "f64_f64", "s8_s32")
SIZES = (["1", "1", "1"], ["1", "100000", "7"], ["1000", "1001", "999"], ["11", "9", "5"], ["1000000"] * 3,
         ["2147483647", "3", "5"], ["3", "5", "2147483647"], ["700000000", "2", "1", "--batch", "12345678"],
         ["500000000", "500000000", "3", "--trans-a", "--trans-b", "--alpha", "-2.12345678901", "--beta", "-3.123456789"])
failures = ran = 0


def widest(arguments, arch=None):
    global failures, ran
    environment = dict(os.environ, **({"TCGEMM_ARCH": arch} if arch else {}))
    done = subprocess.run([TOOL, "explain", *arguments], capture_output=True, text=True, timeout=60, env=environment)
    if done.returncode in (2, 4):  # the GPU lacks the type, or no address space holds the matrices
        return
    ran += 1
    lines = done.stdout.splitlines()
    for line in lines:
        if len(line) > 100:
            failures += 1
            print(f"FAIL: {arch or ''} explain {' '.join(arguments)}: {len(line)} columns: {line}")
    if done.returncode != 0 or len(lines) < 10:
        failures += 1
        print(f"FAIL: {arch or ''} explain {' '.join(arguments)}: {done.returncode} {done.stderr}")


# At level "sanitize" every GPU, type and size, but not each with each.
every = 5 if os.environ.get("TCGEMM_TEST_LEVEL") == "sanitize" else 1
cases = [[*sizes, "--gpu", gpu, "--type", kind] for gpu in GPUS for kind in TYPES for sizes in SIZES]
for case in cases[::every]:
    widest(case)
for arch in ("any", "avx2", "avx512"):
    widest(["1000", "1001", "999", "--device", "cpu"], arch)
widest(["2147483647", "3", "5", "--device", "cpu"], "avx2")
widest(["1", "100000", "7", "--type", "b1_s32", "--device", "cpu"], "any")
if ran < 400 // every:
    failures += 1
    print(f"FAIL: only {ran} were explained")
print(f"{ran} explained, {failures} failures")
sys.exit(1 if failures else 0)
