"""Threads, forks, leaks, interpreters: what the module is to the process it lives in."""

import gc
import multiprocessing
import os
import subprocess
import sys
import sysconfig
import threading
import time

import numpy as np
import pytest
import tcgemm

RNG = np.random.default_rng(0)
A = RNG.integers(-3, 4, (64, 48)).astype(np.float32)
B = RNG.integers(-3, 4, (48, 56)).astype(np.float32)


def test_threads_share_everything():
    plan = tcgemm.plan(A, B)
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(60):
            m, n, k = rng.integers(1, 40, 3)
            a, b = rng.integers(-3, 4, (m, k)).astype(np.float32), rng.integers(-3, 4, (k, n)).astype(np.float32)
            d = np.empty((m, n), np.float32)
            for _ in range(3):
                tcgemm.matmul(a, b, out=d, threads=int(rng.integers(1, 3)) if seed % 2 else None)
                if not (d == a @ b).all():
                    wrong.append((m, n, k))
            if not (plan(A, B) == A @ B).all():
                wrong.append("plan")

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


FIRST_CALLS = """if True:
    import sys, threading, numpy as np, tcgemm

    x = np.arange(36, dtype=np.float32).reshape(6, 6) % 5
    dtypes = [np.float32, np.float64, np.float16, np.int8, np.uint8]
    plans = [tcgemm.plan(x.astype(t), x.astype(t)) for t in dtypes]
    expected = x @ x
    class Sub(np.ndarray): pass
    kinds = [type(f"Array{i}", (Sub,), {}) for i in range(12)]
    start, wrong = threading.Barrier(8), []

    def work(seed):
        own = np.empty((6, 6), np.float32)
        start.wait()
        for i in range(400):
            t = dtypes[(i + seed) % 5]
            a = x.astype(t)
            shape = (2 + i % 5, 6)  # of this thread alone, in slots that all share
            results = [tcgemm.matmul(a, a), plans[(i + seed) % 5](a, a), tcgemm.matmul(x, x, out=own),
                       tcgemm.matmul(x.view(kinds[i % 12]), x), tcgemm.matmul(x, x, threads=1 + i % 2)]
            if not all((d == expected).all() for d in results):
                wrong.append((seed, i))
            if not (tcgemm.matmul(x[:shape[0]], x) == expected[:shape[0]]).all():
                wrong.append((seed, i, shape))
            if i % 50 == 0:
                small = memoryview(x.astype(np.int8).tobytes()).cast("b", (6, 6))
                found = [tcgemm.matmul(x, tcgemm.pack(x)), np.asarray(tcgemm.matmul(small, small))]
                if not all((d == expected).all() for d in found):
                    wrong.append((seed, i, "packed or plain"))
                assert tcgemm.verify(x, x, own)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(wrong, getattr(sys, "_is_gil_enabled", lambda: True)())
"""


def test_first_calls_of_many_threads():
    """What all threads share is learned by all of them at once; a free-threaded Python stays free."""
    free = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    for _ in range(5 if free else 1):
        assert run(FIRST_CALLS) == f"[] {not free}\n"


def test_a_type_that_lets_others_in_while_it_is_looked_at():
    """Another thread finds an array's type half learned by this one, and multiplies all the same."""
    found = []

    class Meta(type(np.ndarray)):
        def __getattr__(cls, name):
            if name == "mask" and not found:
                found.append(None)
                thread = threading.Thread(target=lambda: found.append(tcgemm.matmul(A.view(cls), B.view(cls))))
                thread.start()
                thread.join()
            raise AttributeError(name)

    class Array(np.ndarray, metaclass=Meta):
        pass

    assert (tcgemm.matmul(A.view(Array), B.view(Array)) == A @ B).all()
    assert (found[1] == A @ B).all()


def test_the_gil_is_released():
    """Another thread runs Python while a long product is computed."""
    a = np.ones((1500, 1500))
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0)  # gives the GIL back

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # nobody is asked to give the GIL up: only who releases it lets others run
    thread = threading.Thread(target=count)
    try:
        thread.start()
        before = counted[0]
        tcgemm.matmul(a, a, threads=1)
        after = counted[0]
    finally:
        done.set()
        sys.setswitchinterval(interval)
        thread.join()
    assert after > before


def child(queue):
    queue.put(bool((tcgemm.matmul(A, B) == A @ B).all() and (tcgemm.matmul(A, B, threads=2) == A @ B).all()))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_children(method):
    tcgemm.matmul(A, B, threads=2)
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    assert queue.get(timeout=60) is True
    process.join(60)
    assert process.exitcode == 0


def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def objects_of_calls():
    plan = tcgemm.plan(A, B)
    ahead = tcgemm.pack(B)
    bytes_of = memoryview(bytes([1, 2, 3, 4])).cast("B", (2, 2))
    out = np.empty((64, 56), np.float32)
    batch = np.ones((3, 4, 4))
    readonly = np.zeros((64, 56), np.float32)
    readonly.flags.writeable = False

    def refused(call, *arguments, **options):
        try:
            call(*arguments, **options)
        except (TypeError, ValueError, RuntimeError, BufferError):
            pass

    def round_of_calls():
        tcgemm.matmul(A, B)
        tcgemm.matmul(A, B, out=out)
        tcgemm.matmul(A, B, out, beta=0.5)
        tcgemm.matmul(A, B, threads=1)
        tcgemm.matmul(batch, batch.transpose(0, 2, 1))
        tcgemm.matmul(A, ahead)
        plan(A, B)
        plan(A, B, out=out)
        np.from_dlpack(tcgemm.matmul(bytes_of, bytes_of))
        np.asarray(tcgemm.matmul(bytes_of, bytes_of))
        tcgemm.matmul(bytes_of, bytes_of).__dlpack__()
        tcgemm.plan(A, B).info
        tcgemm.pack(B)
        tcgemm.verify(A, B, out)
        repr(tcgemm.plan(shape=(2, 2, 2), type="u4_s32"))
        refused(tcgemm.matmul, A, A)
        refused(tcgemm.matmul, A, 3)
        refused(tcgemm.matmul, A, B, out=readonly)
        refused(tcgemm.matmul, A, B, out=batch)
        refused(tcgemm.matmul, A, B, algo="magic")
        refused(tcgemm.matmul, A, B, nothing=1)
        refused(tcgemm.plan, shape=(1, -1, 1), type="f32_f32")
        refused(plan, B, A)
        refused(tcgemm.pack, A[0])

    return round_of_calls, [A, B, out, batch, readonly, bytes_of, plan, ahead, np.float32, tcgemm.Plan]


def test_nothing_leaks():
    calls, watched = objects_of_calls()
    for _ in range(50):
        calls()
    gc.collect()
    counts, blocks, bytes_before = [sys.getrefcount(x) for x in watched], sys.getallocatedblocks(), memory()
    for _ in range(400):
        calls()
    gc.collect()
    assert [sys.getrefcount(x) for x in watched] == counts
    assert sys.getallocatedblocks() - blocks < 100
    assert memory() - bytes_before < 8 << 20


def test_many_shapes_and_types():
    """More than the caches hold, in turns: what is thrown out is made again."""
    for turn in range(2):
        for i in range(1, 120):
            a = np.full((i, 3), turn + 1, np.float32)
            assert tcgemm.matmul(a, a.T, threads=1).shape == (i, i)
            assert tcgemm.matmul(a, a.T)[0, 0] == 3 * (turn + 1) ** 2
    for i in range(80):  # array types, too
        kind = type(f"Array{i}", (np.ndarray,), {})
        x = np.ones((2, 2)).view(kind)
        for _ in range(3):
            assert type(tcgemm.matmul(x, x)) is np.ndarray


def run(code, **environment):
    done = subprocess.run([sys.executable, *environment.pop("flags", []), "-c", code], capture_output=True, text=True,
                          env={**os.environ, **environment}, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_without_numpy():
    """Nor does importing open the driver."""
    said = run("""if True:
        import sys, time
        start = time.perf_counter()
        import tcgemm
        print(time.perf_counter() - start < 0.25, 'numpy' in sys.modules, 'libcuda' in open('/proc/self/maps').read())
        x = memoryview(bytes([1, 2, 3, 4])).cast("B", (2, 2))
        print(tcgemm.matmul(x, x).tolist(), tcgemm.plan(x, x)(x, x).tolist(), 'numpy' in sys.modules)
    """)
    assert said == "True False False\n[[7, 10], [15, 22]] [[7, 10], [15, 22]] False\n"


def test_development_mode():
    """Python's own checks of reference counts, memory and warnings have nothing to say."""
    said = run("""if True:
        import gc, numpy as np, tcgemm
        a = np.ones((5, 5), np.float32)
        for _ in range(3):
            d = tcgemm.matmul(a, a, a)
        p = tcgemm.plan(a, a); p(a, a); p(a, a); w = tcgemm.pack(a); tcgemm.matmul(a, w)
        x = memoryview(bytes([1, 2, 3, 4])).cast("B", (2, 2))
        y = np.from_dlpack(tcgemm.matmul(x, x)); gc.collect(); print(y.sum())
    """, flags=["-X", "dev", "-W", "error"], PYTHONMALLOC="debug")
    assert said == "54\n"


def test_shutdown():
    """Arrays that outlive the module, products of daemon threads while the interpreter goes."""
    for _ in range(5):
        run("""if True:
            import threading, time, numpy as np, tcgemm
            a = np.ones((300, 300))
            def work():
                while True:
                    tcgemm.matmul(a, a)
            for _ in range(2):
                threading.Thread(target=work, daemon=True).start()
            x = memoryview(bytes([1, 2, 3, 4])).cast("B", (2, 2))
            kept = np.from_dlpack(tcgemm.matmul(x, x))
            time.sleep(0.02)
        """)


def test_subinterpreters():
    """Each has a module of its own, which works and goes with it."""
    said = run("""if True:
        import _testcapi, tcgemm
        code = '''
import tcgemm
x = memoryview(bytes([1, 2, 3, 4])).cast("B", (2, 2))
assert tcgemm.matmul(x, x).tolist() == [[7, 10], [15, 22]]
assert tcgemm.plan(x, x)(x, x).tolist() == [[7, 10], [15, 22]]
'''
        for _ in range(3):
            assert _testcapi.run_in_subinterp(code) == 0
        x = memoryview(bytes([1, 2, 3, 4])).cast("B", (2, 2))
        print(tcgemm.matmul(x, x).tolist())
    """) if has_testcapi() else "[[7, 10], [15, 22]]\n"
    assert said == "[[7, 10], [15, 22]]\n"


def has_testcapi():
    try:
        import _testcapi  # not in Debian's python3

        return hasattr(_testcapi, "run_in_subinterp")
    except ImportError:
        pytest.skip("this Python has no _testcapi")
