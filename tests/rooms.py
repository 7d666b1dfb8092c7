"""tests/rooms.py: what the table of docs/map.md does not allow is found: the tree has no such include, and a copy of
it in which one is planted fails, with the words that name it."""
import os
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.environ.get("TCGEMM_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# file, line to add, what is said of it
PLANTED = [
    ("src/cpu/gemm.c", '#include "cuda/backend.h"', "src/cpu/gemm.c includes src/cuda/backend.h: src/cpu may not"),
    ("src/cuda/launch.c", '#include "cpu/gemm.h"', "src/cuda may not"),
    ("src/cuda/launch.c", '#include "plan/planner.h"', "src/cuda may not"),
    ("src/ref/judge.c", '#include "gpu/gpu_row.h"', "src/ref may not"),
    ("src/plan/planner.c", '#include "cpu/gemm.h"', "src/plan may not"),
    ("src/table/table.c", '#include "plan/plan.h"', "src/table may not"),
    ("src/base/error.c", '#include "host/pool.h"', "src/base may not"),
    ("src/draw/svg.c", '#include "plan/plan.h"', "src/draw may not"),
    ("src/tile/raster.h", '#include "base/num.h"', "src/tile may not"),
    ("src/gpu/ptx/mma.cuh", '#include "gpu/gpu_args.h"', "src/gpu/ptx may not"),
    ("src/gpu/gpu_args.h", '#include "plan/plan.h"', "src/gpu/gpu_args.h may not"),
    ("src/gpu/model.c", "#include <cuda.h>", "src/gpu may not"),
    ("src/gpu/families/simt_ffma/simt_ffma_f32_f32.cu", '#include "gpu/gpu_row.h"', "src/gpu/families/*/*.cu* may not"),
    ("src/gpu/families/simt_ffma/family.c", '#include "gpu/families/simt_outer/shape.h"', "src/gpu/families/*/*.c may not"),
    ("cli/commands/run.c", '#include "../../src/base/error.h"', "cli/commands may not"),
    ("cli/support/sort.c", '#include "files/npy.h"', "cli/support may not"),
    ("python/src/plan.c", '#include "../../src/plan/plan.h"', "python may not"),
    ("tests/api/test_planted.c", '#include "plan/plan.h"', "tests/api may not"),
    ("src/attic/new.c", '#include "base/error.h"', "src/attic/new.c: its folder is in no room"),
    ("src/base/error.c", '#include "base/gone.h"', "src/base/error.c includes base/gone.h, which is not there"),
]


def said_of(root):
    done = subprocess.run([sys.executable, os.path.join(SOURCE, "scripts/rooms"), "check", root],
                          capture_output=True, text=True)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def copy_of(folder):
    for top in ("include", "src", "cli", "python", "tests"):
        shutil.copytree(os.path.join(SOURCE, top), os.path.join(folder, top), dirs_exist_ok=True,
                        ignore=lambda _, names: [x for x in names if x.endswith((".npy", ".bin"))])
    os.makedirs(os.path.join(folder, "docs"))
    shutil.copy(os.path.join(SOURCE, "docs/map.md"), os.path.join(folder, "docs"))


def edited(path, old, new):
    """Replaces a text in a file and returns how to take it back."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    before = open(path, encoding="utf-8").read() if os.path.exists(path) else None
    assert old in (before or ""), f"{path} has no {old}"
    with open(path, "w", encoding="utf-8") as file:
        file.write((before or "").replace(old, new, 1))

    def restore():
        if before is None:
            os.unlink(path)
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(before)
    return restore


def expect(folder, restore, words):
    status, text = said_of(folder)
    restore()
    assert status == 1 and words in text, f"expected: {words}\nwas:\n{text}"


def main():
    status, text = said_of(SOURCE)
    assert status == 0, text
    with tempfile.TemporaryDirectory() as folder:
        copy_of(folder)
        assert said_of(folder)[0] == 0
        for path, line, words in PLANTED:
            expect(folder, edited(os.path.join(folder, path), "", line + "\n"), words)
        table = os.path.join(folder, "docs/map.md")
        expect(folder, edited(table, "src/base: include", "src/base: include src/cpu"), "rooms in a circle: ")
        expect(folder, edited(table, "src/base: include", "src/base: include src/tile"),
               "nothing in src/base includes src/tile")
        expect(folder, edited(table, "(../src/api/run.c)", "(../src/api/gone.c)"), "links to ../src/api/gone.c")
        assert said_of(folder)[0] == 0
    print(f"{len(PLANTED) + 3} planted faults, each found; {text.splitlines()[-1]}")


main()
