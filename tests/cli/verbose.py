"""TCGEMM_VERBOSE: one line a call that a program can read, on stderr or at the end of a file, whole when many
threads and processes write, and none when it is not asked for.
"""
import os
import re
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.environ["TCGEMM_SOURCE_DIR"], "tests", "support"))
from cli import TOOL, check, run_tests  # noqa: E402

NAMES = ("status type m n k batch op_a op_b order flags lda ldb ldc ldd stride_a stride_b stride_c stride_d alpha beta "
         "packs algo kernel threads device async seconds gflops").split()


def calls_in(text):
    """The calls as dicts; every line must be one, with all names in their order."""
    calls = []
    for line in text.splitlines():
        words = line.split(" ")
        check(words[:2] == ["tcgemm:", "call"], f"no call: {line}")
        call = dict(word.split("=", 1) for word in words[2:])
        check(list(call) == NAMES, f"other names: {line}")
        calls.append(call)
    return calls


def run(*arguments, verbose="1", **more):
    environment = {**os.environ, **more}
    if verbose is not None:
        environment["TCGEMM_VERBOSE"] = verbose
    done = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, env=environment, timeout=120)
    check(done.returncode == 0, f"{arguments}: {done.returncode} {done.stderr}")
    return done


def one_call():
    done = run("run", "-m", 50, "-n", 60, "-k", 70, "-t", "f64_f64", "--trans-b", "--alpha", 0.5, "--beta", -2, "--batch", 3,
               "--pad", 1, "-j", 1, "-q", "--order", "col")
    calls = calls_in(done.stderr)
    check(len(calls) == 1, f"{len(calls)} lines for one product")
    call = calls[0]
    expected = {"status": "OK", "type": "f64_f64", "m": "50", "n": "60", "k": "70", "batch": "3", "op_a": "N", "op_b": "T",
                "order": "col", "lda": "51", "ldb": "61", "ldc": "51", "stride_a": str(51 * 70), "alpha": "0.5", "beta": "-2",
                "packs": "-", "algo": "cpu", "threads": "1", "device": "cpu", "async": "0", "flags": "16"}
    check(expected.items() <= call.items(), f"{call} lacks {expected.items() - call.items()}")
    check(0 < float(call["seconds"]) < 60, f"a product of {call['seconds']} s")
    rate = 2 * 3 * 50 * 60 * 70 / float(call["seconds"]) * 1e-9
    check(abs(float(call["gflops"]) / rate - 1) < 1e-3, f"{call['gflops']} GFLOP/s are not {rate}")
    report = run("run", "-m", 50, "-n", 60, "-k", 70, "--json", "-j", 1)
    kernel = re.search(r'"kernel": "([^"]*)"', report.stdout).group(1)
    check(calls_in(report.stderr)[0]["kernel"] == kernel, "another kernel than the report's")


def counts():
    """As many lines as products, in every command that multiplies; a reference does not count."""
    check(len(calls_in(run("run", "--shape", 20, "-q", "-r", 7).stderr)) == 7, "--repeat 7")
    calls = calls_in(run("run", "--shape", 20, "-q", "--alpha", 0, "--beta", 2).stderr)
    check(len(calls) == 1 and calls[0]["gflops"] == "0", f"alpha 0: {calls}")
    calls = calls_in(run("run", "-m", 0, "-n", 5, "-k", 5, "-q").stderr)
    check(len(calls) == 1 and calls[0]["m"] == "0" and calls[0]["gflops"] == "0", f"m 0: {calls}")
    check(len(calls_in(run("bench", "--shape", 32, "--min-seconds", 0.01, "--samples", 3, "-q").stderr)) >= 4, "bench")
    check(calls_in(run("list").stderr) == [], "list multiplies nothing")
    for value in ("0", "", None):
        check(run("run", "--shape", 20, "-q", verbose=value).stderr == "", f"TCGEMM_VERBOSE={value}")
    for value in ("2", "1,x", "on"):
        done = run("run", "--shape", 20, verbose=value)
        check(done.stderr.count("\n") == 1 and "note: TCGEMM_VERBOSE is '" in done.stderr, f"{value}: {done.stderr}")


def files():
    run("run", "--shape", 20, "-q", "-r", 2, verbose="1:a:b.log")
    with open("a:b.log") as file:
        check(len(calls_in(file.read())) == 2, "two lines in a file")
    # Processes side by side, each with its own count of calls.
    commands = [subprocess.Popen([TOOL, "run", "--shape", str(10 + i), "-q", "-r", "300", "--verify", "none"],
                                 env={**os.environ, "TCGEMM_VERBOSE": "1:a:b.log"}) for i in range(4)]
    for command in commands:
        check(command.wait(120) == 0, "a process of four")
    with open("a:b.log") as file:
        calls = calls_in(file.read())
    check(len(calls) == 1202, f"{len(calls)} lines, not 1202")
    for i in range(4):
        count = sum(call["m"] == str(10 + i) for call in calls)
        check(count == 300, f"{count} lines of the process of size {10 + i}")
    done = run("run", "--shape", 20, "-q", "-r", 3, verbose="1:no/where.log")
    check(done.stderr == "tcgemm: TCGEMM_VERBOSE: no/where.log: No such file or directory\n", f"{done.stderr!r}")
    np.save("a.npy", np.eye(3))
    done = subprocess.run([TOOL, "run", "a.npy", "a.npy", "-o", "-", "-q"], capture_output=True,
                          env={**os.environ, "TCGEMM_VERBOSE": "1"})
    check(done.stdout[:6] == b"\x93NUMPY" and len(calls_in(done.stderr.decode())) == 1, "the standard output is clean")


if __name__ == "__main__":
    os.environ.pop("TCGEMM_VERBOSE", None)
    sys.exit(run_tests(one_call, counts, files))
