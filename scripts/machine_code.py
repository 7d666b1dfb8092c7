"""What scripts/ffma-parity, scripts/loads-before-arrivals and scripts/wide-stores read: the machine code of GPU kernels."""
import os
import re
import shutil
import subprocess
import sys

FUNCTION = re.compile(r"Function : (\S+)")


def find_tool():
    """cuobjdump of the PATH, else of the toolkit where it is usually installed; it needs nvdisasm."""
    path = os.environ.get("PATH", "") + ":/usr/local/cuda/bin"
    return shutil.which("nvdisasm", path=path) and shutil.which("cuobjdump", path=path)


def kernels_of(tool, image):
    """The lines of each kernel of a cubin or fatbin."""
    text = subprocess.run([tool, "-sass", image], check=True, capture_output=True, text=True).stdout
    kernels, lines = {}, []
    for line in text.splitlines():
        if found := FUNCTION.search(line):
            lines = kernels[found.group(1)] = []
        lines.append(line)
    return kernels


def judge_kernels(what, judge):
    """Prints `judge` of the lines of each kernel of the images named on the command line, a text and faults, each a
    line of its own or "". The exit status: 1 if there are faults, 77 without the tools."""
    tool = find_tool()
    if not tool:
        print(f"{what}: not looked at, there is no cuobjdump or no nvdisasm")
        return 77
    total = 0
    for image in sys.argv[1:]:
        for name, lines in sorted(kernels_of(tool, image).items()):
            text, faults = judge(lines)
            total += len(faults)
            print(f"{name:52s} {text}{'   FAULT' if faults else ''}")
            for fault in filter(None, faults):
                print(f"    {fault}")
    return 1 if total else 0
