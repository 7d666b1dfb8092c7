"""The bench beside a peer of known speed (peer/fake_openblas.c): what the peer is asked for, and every figure
of the row worked out again from its own times.
"""
import csv
import os
import subprocess
import sys
import tempfile

TOOL = os.environ["TCGEMM"]
PEER = os.path.join(os.environ["TCGEMM_BUILD_DIR"], "tests", "peer")
failures = 0


def check(good, what):
    global failures
    if not good:
        failures += 1
        print("FAIL:", what)


def near(name, got, expected, tolerance=1e-9):
    check(abs(got - expected) <= tolerance * abs(expected), f"{name}: {got}, worked out {expected}")


def bench(seconds, *arguments):
    environment = dict(os.environ, LD_LIBRARY_PATH=PEER, FAKE_PEER_SECONDS=str(seconds), FAKE_PEER_LOG="log.txt")
    words = [TOOL, "bench", "--samples", "5", "--min-seconds", "0", "--format", "csv", *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, env=environment)
    check(done.returncode == 0, f"{done.returncode} {done.stderr} from {words}")
    return list(csv.DictReader(done.stdout.splitlines()))


def logged():
    """What the peer was asked for, and how long each call took by its own clock."""
    with open("log.txt") as file:
        lines = [line.rsplit(" seconds=", 1) for line in file.read().splitlines()]
    os.remove("log.txt")
    return {asked for asked, _ in lines}, [float(seconds) for _, seconds in lines]


def check_row(row, m, n, k, batch):
    what = f"{row['type']} {m} {n} {k} on {row['threads']}"
    flop = 2 * m * n * k * batch
    ours, theirs = float(row["time_median_seconds"]), float(row["peer_time_median_seconds"])
    near(f"{what} gflops", float(row["gflops"]), flop / ours * 1e-9)
    near(f"{what} tflops", float(row["tflops"]), flop / ours * 1e-12)
    near(f"{what} of peak", float(row["peak_fraction"]), float(row["gflops"]) / float(row["peak_gflops"]))
    near(f"{what} peer gflops", float(row["peer_gflops"]), flop / theirs * 1e-9)
    near(f"{what} peer tflops", float(row["peer_tflops"]), flop / theirs * 1e-12)
    least, spread = float(row["time_min_seconds"]), float(row["time_spread_fraction"])
    check(0 < least <= ours and 0 <= spread < 10, f"{what}: least {least}, median {ours}, spread {spread}")
    # The products here take microseconds, the peer's milliseconds: a busy machine changes nothing of that.
    check(float(row["ratio_median"]) > 2, f"{what}: ratio {row['ratio_median']}")
    check(row["peer_version"] == "a fake of known speed", f"{what}: version {row['peer_version']}")
    check(int(row["samples"]) >= 5, f"{what}: {row['samples']} samples")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        rows = bench(0.004, "--type", "f32_f32,f64_f64,s8_s32", "-m", 40, "-n", 50, "-k", 60, "--threads", "1,2", "--vs",
                     "openblas", "--trans-a", "--alpha", 2, "--beta", 3)
        peaks = {row["peak_gflops"] for row in rows}
        check(len(peaks) == 6, f"three types on one and two threads have the peaks {peaks}")
        for row in rows:
            check_row(row, 40, 50, 60, 1)
            name = "openblas dgemm" if row["type"] == "f64_f64" else "openblas sgemm"
            check(row["peer"] == name, f"{row['type']} meets {row['peer']}")
        calls, _ = logged()
        asked = "order=101 ta=112 tb=111 m=40 n=50 k=60 lda=40 ldb=50 ldc=50 alpha=2 beta=3"
        expected = {f"{x}gemm threads={threads} {asked}" for x in "sd" for threads in (1, 2)}
        check(calls == expected, f"the peer was asked for {calls}")
        (row,) = bench(0.004, "--shape", "30x20x10", "--threads", 1, "--vs", "openblas", "--trans-b", "--order",
                       "col", "--batch", 3)
        check_row(row, 30, 20, 10, 3)
        calls, times = logged()
        asked = "order=102 ta=111 tb=112 m=30 n=20 k=10 lda=30 ldb=20 ldc=30 alpha=1 beta=0"
        check(calls == {f"sgemm threads=1 {asked}"}, f"the peer was asked for {calls}")
        # A sample is one batch, as the peer's own clock has it; the last five were timed.
        samples = sorted(sum(times[at:at + 3]) for at in range(len(times) - 15, len(times), 3))
        # What lies between the two clocks is the writing of the log, which a busy machine may stretch.
        for column, mine in (("peer_time_median_seconds", samples[2]), ("peer_time_min_seconds", samples[0])):
            check(0.999 * mine <= float(row[column]) < 2 * mine, f"{column}: {row[column]}, the peer says {mine}")
        # So short that many calls make a sample, which lasts 0.2 ms at least: it is the time of one.
        (row,) = bench(0.00002, "--shape", "2x2x2", "--threads", 1, "--vs", "openblas", "--samples", 100)
        check_row(row, 2, 2, 2, 1)
        least = float(row["peer_time_min_seconds"])
        check(0.00002 <= least < 0.00006, f"{least} for one of many calls")
        os.chdir("/")
    print(f"{failures} failures")
    sys.exit(1 if failures else 0)


main()
