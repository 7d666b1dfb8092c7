"""cli.py - what the tests of the tool in Python share, as cli.sh is for those in sh. They lie in tests/cli:

    sys.path.insert(0, os.path.join(os.environ["TCGEMM_SOURCE_DIR"], "tests", "support"))
"""
import os
import subprocess
import tempfile

TOOL = os.environ["TCGEMM"]
_failures = 0


def check(good, what):
    """Counts and prints what is not good."""
    global _failures
    if not good:
        _failures += 1
        print("FAIL:", what)


def tool(*arguments, status=0, stderr=None, text=True, **more):
    """Runs the tool; it ends with `status`, and `stderr`, if given, is among what it says."""
    words = [TOOL, *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=text, timeout=60, **more)
    said = done.stderr if text else done.stderr.decode()
    good = done.returncode == status and (stderr is None or stderr in said)
    check(good, f"{done.returncode} {said!r} from {' '.join(words[1:])}, expected {status} {stderr!r}")
    return done


def run_tests(*tests):
    """Runs them in a folder of their own; the exit status of the script: 77 if one returns that."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        skipped = any(test() == 77 for test in tests)
        os.chdir("/")
    print(f"{_failures} failures")
    return 77 if skipped and not _failures else 1 if _failures else 0
