"""What scripts/ffma-parity, scripts/loads-before-arrivals and scripts/wide-stores read: the machine code of GPU kernels."""
import os
import re
import shutil
import subprocess

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
