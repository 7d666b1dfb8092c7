"""A suite of its own file beside two peers of known speed (peer/fake_openblas.c): rows for both, the best one
on the screen, classes worked out again, resumed, refused.
"""
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

TOOL = os.environ["TCGEMM"]
PEER = os.path.join(os.environ["TCGEMM_BUILD_DIR"], "tests", "peer")
ANY = os.path.join(PEER, "libanyblas.so")
failures = 0

SUITE = """device cpu
seconds 0.001
samples 3
class easy geomean=1.5 worst=1.1
  f32_f32 NN,NT 20,30x20x10 threads=1
class hard geomean=1e8
  f64_f64 TN 24 threads=1 pad=2
class own of=easy geomean=1e-6
  f32_f32 TT 16 threads=1 batch=3
class huge
  f32_f32 NN 16 threads=1024
"""


def check(good, what):
    global failures
    if not good:
        failures += 1
        print("FAIL:", what)


def near(got, expected, what):
    check(math.isclose(got, expected, rel_tol=1e-9), f"{got}, worked out {expected}: {what}")


def bench(*arguments, status=0, **variables):
    environment = dict(os.environ, LD_LIBRARY_PATH=PEER, FAKE_PEER_SECONDS="0.002", FAKE_ANY_SECONDS="0.02")
    environment.update(variables)
    words = [TOOL, "bench", *arguments]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, env=environment)
    check(done.returncode == status, f"{done.returncode}, not {status}: {done.stderr} from {words}")
    return done


def rows_of(path):
    with open(path) as file:
        return list(csv.DictReader(file))


def problems_of(rows):
    return [(r["class"], r["type"], r["ops"], r["m"], r["n"], r["k"], r["batch"], r["pad"]) for r in rows]


def check_classes(classes, rows):
    """Against the rows: geometric mean, worst point and verdict."""
    check([c["class"] for c in classes] == ["easy", "hard", "own"], f"classes {classes}")
    best = [row for row in rows if row["peer_is_best"] != "no"]
    easy = [float(row["ratio_median"]) for row in best if row["class"] == "easy"]
    check(classes[0]["problems"] == 4 and len(easy) == 4, f"{len(easy)} rows of easy, {classes[0]}")
    near(classes[0]["ratio_geomean"], math.prod(easy) ** 0.25, classes[0])
    near(classes[0]["ratio_worst"], min(easy), classes[0])
    check(classes[0]["verdict"] == "met" and classes[0]["worst_peer"] == "openblas sgemm", f"{classes[0]}")
    check(classes[1]["verdict"] == "missed", f"{classes[1]}")
    check(classes[1]["worst_point"] == "f64_f64 TN 24x24x24 on 1", f"{classes[1]}")
    speeds = sorted(float(row["gflops"]) for row in best if row["class"] == "easy")
    own = float([row for row in best if row["class"] == "own"][0]["gflops"])
    near(classes[2]["ratio_geomean"], own / (0.5 * (speeds[1] + speeds[2])), classes[2])
    check(classes[2]["verdict"] == "met", f"{classes[2]}")
    check(classes[2]["worst_point"] == "f32_f32 TT 16x16x16 *3 on 1", f"{classes[2]}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("s.txt", "w") as file:
            file.write(SUITE)
        done = bench("--suite", "s.txt", "--vs", f"openblas,{ANY}", "--csv", "r.csv", "--json")
        rows = rows_of("r.csv")
        check("1 problem of s.txt takes more threads" in done.stderr, f"not said: {done.stderr}")
        check("anyblas: its number of threads cannot be set" in done.stderr, f"not said: {done.stderr}")
        # f32: both, the quicker one is the best. f64: only one has it.
        for row in rows:
            expected = {"openblas dgemm": "yes", "openblas sgemm": "yes", "anyblas sgemm": "no"}
            check(row["peer_is_best"] == expected[row["peer"]], f"{row['peer']} is best: {row['peer_is_best']}")
            slower = 0.02 if row["peer"].startswith("any") else 0.002
            batch = int(row["batch"])
            least = float(row["peer_time_min_seconds"])
            check(slower * batch <= least, f"{row['peer']} takes {least}")
        check(len(rows) == 2 * 4 + 1 + 2, f"{len(rows)} rows")
        check(("hard", "f64_f64", "TN", "24", "24", "24", "1", "2") in problems_of(rows), f"{problems_of(rows)}")
        document = json.loads(done.stdout)
        check(len(document["rows"]) == len(rows), "JSON has other rows")
        check_classes(document["classes"], rows)

        # The screen has one row a problem and a line a class; all is there, so nothing is measured again.
        done = bench("--suite", "s.txt", "--vs", f"openblas,{ANY}", "--resume", "r.csv")
        check("6 rows of r.csv need no other measurement" in done.stderr, f"not said: {done.stderr}")
        lines = done.stdout.splitlines()
        check([line.split()[0] for line in lines if line] == ["class", "easy", "hard", "own"], f"{lines}")
        check(rows_of("r.csv") == rows, "resume has changed the table")
        done = bench("--suite", "s.txt", "--vs", f"{ANY},openblas", "--class", "easy", "--type", "f32_f32",
                     "--format", "md")
        lines = [line.split("|")[1].strip() for line in done.stdout.splitlines() if line]
        check(lines.count("f32_f32") == 4 and lines[-1] == "easy", f"{done.stdout}")
        check("anyblas" not in done.stdout, f"{done.stdout}")
        # A class that another one is measured by comes along.
        done = bench("--suite", "s.txt", "--class", "own", "--format", "csv")
        classes = [row["class"] for row in csv.DictReader(done.stdout.splitlines())]
        check(classes == ["easy"] * 4 + ["own"], done.stdout)

        # A peer that is wrong is told and not timed; without it there is none.
        done = bench("--shape", "20", "--threads", "1", "--vs", "openblas", "--samples", "3", "--min-seconds", "0",
                     "--format", "csv", FAKE_PEER_WRONG="1")
        (row,) = csv.DictReader(done.stdout.splitlines())
        check("openblas sgemm is WRONG" in done.stderr, done.stderr)
        check(row["peer"] == "none" and row["ratio_median"] == "", done.stdout)
        # On two threads the peers get their pauses.
        done = bench("--shape", "20", "--threads", "2", "--vs", "openblas", "--samples", "7", "--min-seconds", "0",
                     "--pause", "0.001", "--format", "csv")
        (row,) = csv.DictReader(done.stdout.splitlines())
        check(row["samples"] == "8", f"{row['samples']} samples in four blocks of two")

        with open("bad.txt", "w") as file:
            file.write("device cpu\nclass a\n  f32_f32 NN 8x8\n")
        for words, status, sentence in [
                (("--suite", "bad.txt"), 3, "bad.txt: line 3: '8x8' is not MxNxK"),
                (("--suite", "none.txt"), 3, "none.txt: "),
                (("--suite", "s.txt", "--class", "eazy"), 2, "s.txt has no class 'eazy'"),
                (("--suite", "s.txt", "--threads", "7"), 2, "nothing of s.txt is left to measure"),
                (("--suite", "s.txt", "--shape", "8"), 2, "leave out sizes"),
                (("--class", "easy", "--shape", "8"), 2, "--class chooses among"),
                (("--shape", "8", "--vs", "openblass"), 4, "'openblass' is none of openblas, "),
                (("--shape", "8", "--vs", "/nowhere/libx.so"), 4, "/nowhere/libx.so"),
                (("--shape", "8", "--pause", "-1"), 2, "--pause is -1"),
                (("--shape", "8", "--steady", "61"), 2, "--steady is 61"),
                (("--shape", "8", "--vs", "f32," * 8 + "f32"), 2, "more than 8 peers")]:
            done = bench(*words, status=status)
            check(sentence in done.stderr, f"{sentence}: {done.stderr}")
        os.chdir("/")
    print(f"{failures} failures")
    sys.exit(1 if failures else 0)


main()
