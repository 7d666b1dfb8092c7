"""Examples of the documentation and the docstrings run; stubs and annotations hold."""

import doctest
import json
import os
import subprocess
import sys

import pytest
import tcgemm
import tcgemm._core

SOURCE = os.environ.get("TCGEMM_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def test_page():
    failed, tried = doctest.testfile(os.path.join(SOURCE, "docs/python.md"), module_relative=False)
    assert failed == 0 and tried > 30


@pytest.mark.parametrize("name", tcgemm.__all__)
def test_docstrings(name):
    thing = getattr(tcgemm, name)
    if name == "__version__":
        return
    assert thing.__doc__
    examples = doctest.DocTestParser().get_doctest(thing.__doc__, {**vars(tcgemm), "tcgemm": tcgemm}, name, None, 0)
    assert doctest.DocTestRunner().run(examples).failed == 0


def test_module_docstring():
    assert doctest.testmod(tcgemm, extraglobs={"tcgemm": tcgemm}).failed == 0


def test_names():
    public = {name for name in dir(tcgemm) if not name.startswith("_")} - {"jax", "torch"}
    assert public == set(tcgemm.__all__) - {"__version__"}


def checked(*command):
    pytest.importorskip("mypy")
    folder = os.path.dirname(os.path.dirname(tcgemm.__file__))
    found = {} if "site-packages" in folder else {"MYPYPATH": folder}
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, env={**os.environ, **found})
    assert done.returncode == 0, done.stdout + done.stderr


# A program whose every line a checker of types has to understand.
USER = """import tcgemm
x = memoryview(bytes(4))
plan: tcgemm.Plan = tcgemm.plan(shape=(1, 2, 3), type='f32_f32', threads=2)
y: memoryview = tcgemm.matmul(x, x, alpha=2, out=None)
ok: bool = bool(tcgemm.verify(x, x, y, mode='full'))
text: str = plan.explain('svg', picture='roofline')
kernels: list[str] = [k['name'] for k in tcgemm.kernels()]
"""


def test_annotations(tmp_path):
    user = tmp_path / "user.py"
    user.write_text(USER)
    cache = os.path.join(sys.prefix, "mypy-cache")
    checked("mypy", "--strict", "--cache-dir", cache, str(user))
    config = os.path.join(SOURCE, "tests/python/mypy.ini")
    checked("mypy", "--strict", "--config-file", config, "--cache-dir", cache, "-p", "tcgemm")


# Its wheel brings 50 MB of node: only where it has been installed.
def test_pyright(tmp_path):
    pytest.importorskip("basedpyright")
    folder = os.path.dirname(os.path.dirname(tcgemm.__file__))
    (tmp_path / "user.py").write_text(USER)
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [folder]}))
    stubs = [os.path.join(folder, "tcgemm", name) for name in ("__init__.pyi", "_core.pyi")]
    for files in (["user.py"], stubs):
        done = subprocess.run([sys.executable, "-m", "basedpyright", "--level", "error", *files], cwd=tmp_path,
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_stubs(tmp_path):
    allowed = tmp_path / "allowed"
    allowed.write_text("tcgemm._core.Array.__buffer__\ntcgemm.torch\ntcgemm.jax\n")  # from 3.12 on; need their packages
    config = os.path.join(SOURCE, "tests/python/mypy.ini")
    checked("mypy.stubtest", "tcgemm", "--allowlist", str(allowed), "--ignore-unused-allowlist",
            "--mypy-config-file", config)
