"""Plans, operands packed ahead, proofs, tuning, and what the module tells of itself."""

import copy
import json
import pickle
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import tcgemm

A = np.arange(12, dtype=np.float32).reshape(3, 4)
B = np.arange(20, dtype=np.float32).reshape(4, 5)


def test_call():
    plan = tcgemm.plan(A, B)
    out = np.zeros((3, 5), np.float32)
    for _ in range(4):
        out[...] = np.nan
        assert plan(A, B, out=out) is out
        np.testing.assert_array_equal(out, A @ B)
        np.testing.assert_array_equal(plan(A, B), A @ B)
    np.testing.assert_array_equal(plan(A, B, out, alpha=2, beta=3), 2 * (A @ B) + 3 * out)
    np.testing.assert_array_equal(plan(A, B, c=out), A @ B + out)
    np.testing.assert_array_equal(plan(np.asfortranarray(A), B[:, ::1]), A @ B)  # another layout
    np.testing.assert_array_equal(plan(*[A, B], **{"out": None}), A @ B)
    assert plan.__call__(A, B, out=out) is out  # by tuple and dictionary


def test_scalars_are_kept():
    plan = tcgemm.plan(A, B, alpha=2)
    for _ in range(3):
        np.testing.assert_array_equal(plan(A, B), 2 * (A @ B))
    np.testing.assert_array_equal(plan(A, B, alpha=3), 3 * (A @ B))
    c = np.ones((3, 5), np.float32)
    scaled = tcgemm.plan(A, B, c, alpha=2, beta=5)
    np.testing.assert_array_equal(scaled(A, B, c), 2 * (A @ B) + 5)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(scaled))(A, B, c), 2 * (A @ B) + 5)


def test_other_arrays_are_refused():
    plan = tcgemm.plan(A, B)
    for bad in (A[:2], A[:, :3], A[0], A[None]):
        with pytest.raises(ValueError, match="a has another shape than the plan was made for"):
            plan(bad, B)
    with pytest.raises(ValueError, match="b has another shape"):
        plan(A, B[:, :4])
    with pytest.raises(TypeError):
        plan(A.astype(float), B.astype(float))
    with pytest.raises(TypeError, match="has no keyword argument 'threads'"):
        plan(A, B, threads=1)
    with pytest.raises(TypeError):
        plan(A)
    readonly = np.zeros((3, 5), np.float32)
    for _ in range(2):
        plan(A, B, out=readonly)
    readonly.flags.writeable = False
    with pytest.raises(ValueError, match="out is read-only"):
        plan(A, B, out=readonly)
    moved = np.zeros(64, np.uint8)[1:61].view(np.float32).reshape(3, 5)
    with pytest.warns(tcgemm.CopyWarning, match="out is copied"):
        plan(A, B, out=moved)
    np.testing.assert_array_equal(moved, A @ B)


@pytest.mark.parametrize("arguments, shapes", [
    ({"shape": (3, 5, 4)}, ((3, 4), (4, 5))),
    ({"shape": (3, 5, 4), "trans_a": True, "trans_b": True}, ((4, 3), (5, 4))),
    ({"shape": ((7, 1, 3, 4), (2, 4, 5))}, ((7, 1, 3, 4), (2, 4, 5))),
    ({"shape": ((4,), (4, 5))}, ((4,), (4, 5))),
])
def test_shapes(arguments, shapes):
    plan = tcgemm.plan(type="f64_f64", **arguments)
    a, b = (np.random.default_rng(0).standard_normal(s) for s in shapes)
    turned = [np.swapaxes(x, -1, -2) if arguments.get(t) else x for x, t in ((a, "trans_a"), (b, "trans_b"))]
    np.testing.assert_allclose(plan(a, b), np.matmul(*turned), rtol=1e-12, atol=1e-13)
    for again in (pickle.loads(pickle.dumps(plan)), copy.copy(plan), copy.deepcopy(plan)):
        assert again.problem == plan.problem and again.kernel == plan.kernel
        np.testing.assert_array_equal(again(a, b), plan(a, b))


@pytest.mark.parametrize("arguments, kind", [
    ({}, TypeError), ({"shape": (3, 5, 4)}, TypeError), ({"shape": (3, 5), "type": "f32_f32"}, TypeError),
    ({"shape": (3, -5, 4), "type": "f32_f32"}, ValueError), ({"shape": (3, 5, 4), "type": "f32"}, TypeError),
    ({"shape": ((3, 5), (4, 5)), "type": "f32_f32"}, ValueError), ({"shape": ((3, -1), (-1, 3)), "type": "f32_f32"}, ValueError),
    ({"shape": (3, 5, 4.5), "type": "f32_f32"}, TypeError), ({"shape": (1, 1, 1), "type": "f32_f32", "gpu": "abacus"}, ValueError),
])
def test_plans_that_are_refused(arguments, kind):
    with pytest.raises(kind):
        tcgemm.plan(**arguments)
    with pytest.raises(TypeError, match="either arrays or shape="):
        tcgemm.plan(A, B, shape=(3, 5, 4))


def test_what_it_says():
    plan = tcgemm.plan(A, B, threads=1)
    assert repr(plan) == f"<tcgemm.Plan f32_f32, 3 x 5 x 4, batch 1, kernel {plan.kernel}>"
    assert plan.type == "f32_f32" and plan.info["num_threads"] == 1 and plan.info["device"] == "cpu"
    assert plan.problem["lda"] == 4 and plan.problem["order"] == "row"
    assert plan.kernel in plan.describe() and json.loads(plan.describe("json"))
    assert plan.estimates()[0]["seconds"] > 0
    assert any(x["name"] == plan.kernel for x in tcgemm.kernels())
    with pytest.raises(ValueError, match="format is 'xml'"):
        plan.describe("xml")


def test_pictures():
    plan = tcgemm.plan(shape=(4096, 4096, 4096), type="bf16_f32", gpu="h200")
    for name in ("blocks", "roofline", "memory"):
        assert ElementTree.fromstring(plan.explain("svg", picture=name)).tag.endswith("svg")
    part = plan._repr_html_()
    assert len(part.encode()) <= 60_000 and "<script" not in part and "http" not in part.replace("http://www.w3.org", "")
    assert "prefers-color-scheme:dark" in part and plan._repr_html_() == part
    other = tcgemm.plan(shape=(4096, 4096, 4096), type="bf16_f32", gpu="h200")._repr_html_()
    ids = lambda html: set(re.findall(r' id="([^"]+)"', html))
    assert not ids(part) & ids(other)  # two plans on one page
    assert plan.explain("html").startswith("<!") and json.loads(plan.explain("json"))
    for arguments in (("svg", "cat"), ("png",), ("svg", None, "blue")):
        with pytest.raises(ValueError):
            plan.explain(*arguments)
    with pytest.raises(tcgemm.DeviceError, match="known GPU"):
        tcgemm.plan(shape=(2, 2, 2), type="f32_f32", gpu="h200")(np.zeros((2, 2), "f4"), np.zeros((2, 2), "f4"))


# ---- packed ahead ----


@pytest.mark.parametrize("name, dtype", [("f32_f32", "f4"), ("f64_f64", "f8"), ("s8_s32", "i1"), ("f16_f32", "f2"), ("u4_s32", "u1")])
def test_packed_ahead(name, dtype):
    rng = np.random.default_rng(1)
    whole = lambda *shape: rng.integers(0, 4, shape).astype(dtype)
    a, b = whole(9, 16), whole(32 if name == "u4_s32" else 16, 8)
    b_ahead, a_ahead = tcgemm.pack(b, type=name), tcgemm.pack(a, operand="a", type=name)
    expected = tcgemm.matmul(a, b, type=name)
    np.testing.assert_array_equal(tcgemm.matmul(a, b_ahead), expected)
    np.testing.assert_array_equal(tcgemm.matmul(a_ahead, b), expected)
    np.testing.assert_array_equal(tcgemm.matmul(a[:1], b_ahead), expected[:1])
    np.testing.assert_array_equal(tcgemm.matmul(np.stack([a, a]), b_ahead), np.stack([expected] * 2))
    np.testing.assert_array_equal(tcgemm.plan(a, b_ahead)(a, b_ahead), expected)
    assert b_ahead.type == name and b_ahead.operand == "b" and b_ahead.nbytes % 64 == 0
    out = np.zeros_like(expected, order="F")
    with pytest.warns(tcgemm.CopyWarning, match="out"):
        tcgemm.matmul(a, b_ahead, out=out)
    np.testing.assert_array_equal(out, expected)


def test_packed_ahead_transposed():
    ahead = tcgemm.pack(np.ascontiguousarray(B.T), trans=True)
    assert ahead.shape == (4, 5)
    np.testing.assert_array_equal(tcgemm.matmul(A, ahead), A @ B)
    np.testing.assert_array_equal(tcgemm.matmul(A, tcgemm.pack(B[:, ::1])), A @ B)


def test_packed_ahead_in_the_wrong_place():
    ahead = tcgemm.pack(B)
    for call, kind in [(lambda: tcgemm.matmul(ahead, B), ValueError), (lambda: tcgemm.matmul(A, ahead, trans_b=True), ValueError),
                       (lambda: tcgemm.matmul(A[:, :3], ahead), ValueError), (lambda: tcgemm.matmul(A, ahead, type="tf32_f32"), ValueError),
                       (lambda: tcgemm.verify(A, ahead, A @ B), TypeError), (lambda: tcgemm.pack(B[0]), ValueError),
                       (lambda: tcgemm.pack(B, operand="c"), ValueError), (lambda: tcgemm.pack(B, out=B), TypeError),
                       (lambda: tcgemm.pack([1]), TypeError), (lambda: tcgemm.pack(), TypeError),
                       (lambda: tcgemm.matmul(A.astype(float), ahead), TypeError), (lambda: tcgemm.pack(B, device="cpu"), TypeError)]:
        with pytest.raises(kind):
            call()


# ---- proofs ----


def test_verify_finds_one_wrong_element():
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((3, 20, 30)), rng.standard_normal((30, 10))
    d = a @ b
    report = tcgemm.verify(a, b, d)
    assert report and report.num_checked == 600 and report.wrong_index is None and 0 <= report.max_ratio <= 1
    d[2, 7, 5] += 1e-6
    report = tcgemm.verify(a, b, d)
    assert not report and report.num_wrong == 1 and report.wrong_index == (2, 7, 5)
    assert "WRONG, 1 of 600" in repr(report)
    d[2, 7, 5] = np.nan
    assert not tcgemm.verify(a, b, d)
    assert tcgemm.verify(a, b, np.asfortranarray((a @ b)[::-1])[::-1])


def test_verify_with_everything():
    a, b, c = np.ones((4, 3)), np.ones((5, 4)), np.full((3, 5), 7.0)
    d = tcgemm.matmul(a, b, c, alpha=2, beta=3, trans_a=True, trans_b=True)
    assert tcgemm.verify(a, b, d, c, alpha=2, beta=3, trans_a=True, trans_b=True, mode="full")
    assert not tcgemm.verify(a, b, d, c, alpha=2, beta=4, trans_a=True, trans_b=True)
    x = np.ones((700, 700), np.float32)
    report = tcgemm.verify(x, x, x @ x, mode="sample", seed=3)
    assert report and report.mode == "sample" and report.num_checked < 490_000
    for arguments in ({"mode": "some"}, {"seed": "x"}, {"out": d}):
        with pytest.raises((TypeError, ValueError)):
            tcgemm.verify(a, b, d, trans_a=True, trans_b=True, **arguments)
    with pytest.raises(ValueError, match="out has shape|d has shape"):
        tcgemm.verify(a, b, d[:2], trans_a=True, trans_b=True)


def test_tune():
    plan = tcgemm.plan(shape=(48, 48, 48), type="f32_f32")
    kernels = [x["kernel"] for x in plan.estimates()[:3]]
    tuned = tcgemm.tune(plan, top=3, seconds=0.002)
    assert tuned.kernel in kernels and tuned.problem == plan.problem
    for name in ("bf16_f32", "e4m3_bf16", "s4_s32", "b1_s32"):
        assert tcgemm.tune(tcgemm.plan(shape=(8, 8, 8), type=name), top=1, seconds=0.001).type == name
    with pytest.raises(ValueError, match="not here"):
        tcgemm.tune(tcgemm.plan(shape=(8, 8, 8), type="f16_f32", gpu="h200"))


def test_info():
    info = tcgemm.info()
    assert info["version"] == tcgemm.__version__ and len(info["types"]) == 18
    assert info["machine"]["num_processors"] >= 1 and "licence" in str(info)
    assert info["devices"] == [] and info["device_reason"]
    assert "h200" in tcgemm.known_gpus()


# ---- python -m tcgemm ----


def run(*arguments):
    done = subprocess.run([sys.executable, "-m", "tcgemm", *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_main(tmp_path):
    code, out, _ = run("-m", 50, "-n", 40, "-k", 30, "--type", "u8s8_s32")
    assert code == 0 and out.endswith("CORRECT\n") and out.startswith("u8s8_s32 50 x 40 x 30")
    np.save(tmp_path / "a.npy", A)
    np.save(tmp_path / "b.npy", B.T)
    np.save(tmp_path / "c.npy", np.ones((3, 5), np.float32))
    code, out, _ = run(tmp_path / "a.npy", tmp_path / "b.npy", tmp_path / "c.npy", "--trans-b", "--beta", 2, "--explain", "-o", tmp_path / "d.npy")
    assert code == 0 and "CORRECT" in out and "D = alpha" in out
    np.testing.assert_array_equal(np.load(tmp_path / "d.npy"), A @ B + 2)
    for arguments, says in [((tmp_path / "a.npy", tmp_path / "a.npy"), "do not meet"), ((tmp_path / "x.npy", tmp_path / "y.npy"), "No such file"),
                            (("--type", "f99"), "f99"), ((tmp_path / "a.npy",), "give A and B"), (("--beta", 1), "--beta needs")]:
        code, out, said = run(*arguments)
        assert code == 2 and says in said and "Traceback" not in said


def test_bench(capsys):
    import xml.etree.ElementTree as xml

    seen = []
    shapes, names = [8, (16, 4, 32), 64], ["f32_f32", "s4_s32", "bf16_bf16"]
    found = tcgemm.bench(shapes, names, seconds=0.001, progress=lambda *x: seen.append(x))
    assert [x["type"] for x in found] == [y for y in names for _ in shapes] and found[1]["k"] == 32
    assert all(x["seconds"] > 0 and abs(x["gflops"] * x["seconds"] * 5e8 / (x["m"] * x["n"] * x["k"]) - 1) < 1e-9 for x in found)
    assert seen[0] == (0, 9, "f32_f32 8 x 8 x 8") and seen[-1] == (9, 9, "") and len(seen) == 10
    assert len(str(found).splitlines()) == 10
    picture = xml.fromstring(found.svg())
    name = "{http://www.w3.org/2000/svg}"
    assert len(picture.findall(f"{name}circle")) == 9 and len(picture.findall(f"{name}polyline")) == 3
    width, height = float(picture.get("width")), float(picture.get("height"))
    for dot in picture.findall(f"{name}circle"):
        assert 0 < float(dot.get("cx")) < width and 0 < float(dot.get("cy")) < height
    html = found._repr_html_()
    assert len(html) < 60_000 and html.count("<tr>") == 10 and "http" not in html.replace("http://www.w3.org/2000/svg", "")
    assert len(tcgemm.bench([8], seconds=0.001)) == 1 and capsys.readouterr().err == ""  # nobody looks: no bar
    tcgemm.bench([8, 16], seconds=0.001, progress=True)
    bar = capsys.readouterr().err
    assert "0/2 f32_f32 8 x 8 x 8" in bar and "1/2" in bar and bar.endswith("\r")
    with pytest.raises(TypeError, match="no type is called 'f31'"):
        tcgemm.bench([8], ["f31"])
    with pytest.raises(ValueError, match="one number for all three"):
        tcgemm.bench([(1, 2)])
    with pytest.raises(ValueError, match="plans of the CPU"):
        tcgemm.bench([8], gpu="h200")
