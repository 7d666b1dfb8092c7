"""The page of explain in a real browser without a window: it says what it should while tiles are pointed
at and steps are taken, no text overflows or covers another, nothing is loaded, nothing fails. Wide and
narrow, light and dark. Skipped where no Chromium is installed.
"""
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOOL = os.environ["TCGEMM"]
HERE = pathlib.Path(__file__).resolve().parent
failures = 0

CATCH = """<script>window.observedErrors = [];
const note = (what) => window.observedErrors.push(String(what));
window.addEventListener("error", (event) => note(event.message));
window.addEventListener("unhandledrejection", (event) => note(event.reason));
window.addEventListener("securitypolicyviolation", (event) => note(event.violatedDirective));
console.error = console.warn = note;
window.observedTimers = [];
window.setInterval = (tick) => window.observedTimers.push(tick);
window.clearInterval = () => {};</script>"""


def fail(text):
    global failures
    failures += 1
    print("FAIL:", text)


def browser():
    for name in ("chromium-headless-shell", "chromium", "google-chrome", "chrome"):
        if shutil.which(name):
            return name
    print("skipped: no Chromium here (Debian: chromium-headless-shell)")
    sys.exit(77)


def look(program, page, folder, width, dark):
    """What explain_page.js saw in the page."""
    text = page.read_text()
    script = "<script>" + (HERE / "explain_page.js").read_text() + "</script>"
    text = text.replace("<head>", "<head>" + CATCH, 1).replace("</body>", script + "</body>", 1)
    copy = folder / "copy.html"
    copy.write_text(text)
    command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
               "--no-first-run", "--hide-scrollbars", "--proxy-server=127.0.0.1:9",
               f"--user-data-dir={folder / 'profile'}", f"--window-size={width},1000",
               "--enable-logging=stderr", "--virtual-time-budget=3000",
               f"--blink-settings=preferredColorScheme={0 if dark else 1}",
               "--dump-dom", copy.as_uri()]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    found = re.search(r'<pre id="observed">(.*?)</pre>', run.stdout, re.DOTALL)
    if not found:
        fail(f"{page.name}: the browser's script left nothing: status {run.returncode}, {run.stderr[-600:]}")
        return None
    for line in run.stderr.splitlines():
        if "CONSOLE" in line:
            fail(f"{page.name}: the console says: {line}")
    return json.loads(html.unescape(found.group(1)))


def facts_of(page):
    found = re.search(r'<script type="application/json" id="facts">(.*?)</script>', page.read_text(), re.DOTALL)
    return json.loads(found.group(1))


def grouped(number):
    return f"{number:,}".replace(",", " ")


def span(start, end):
    return grouped(start) if end - start == 1 else f"{grouped(start)} .. {grouped(end - 1)}"


def gpu_tile(facts, index):
    """Rows and columns of a tile from its number: the raster, written down again."""
    problem, block = facts["problem"], facts["levels"][1]
    swapped = problem["order"] == "col"
    size = {"m": problem["m"], "n": problem["n"]}
    down, across = ("n", "m") if swapped else ("m", "n")
    tiles = {x: -(-size[x] // block[x]) for x in "mn"}
    group = min(facts["launch"]["raster_group"], tiles[down])
    sweep, within = divmod(index, group * tiles[across])
    rows = min(group, tiles[down] - sweep * group)
    place = {down: sweep * group + within % rows, across: within // rows}
    begin = {x: place[x] * block[x] for x in "mn"}
    return begin["m"], min(begin["m"] + block["m"], size["m"]), begin["n"], min(begin["n"] + block["n"], size["n"])


def check_tile(name, facts, tile):
    what = f"{name}: tile {tile['index']} ({tile['how']})"
    if tile["lit"] != [tile["index"]] or len(tile["a"]) != 1 or len(tile["b"]) != 1:
        fail(f"{what} lights up {tile['lit']}, {tile['a']}, {tile['b']}")
        return
    if not tile["beside"] or not tile["above"]:
        fail(f"{what}: its bands stand elsewhere")
    if facts["machine"]["is_gpu"]:
        m0, m1, n0, n1 = gpu_tile(facts, tile["index"])
        rows, columns = span(m0, m1), span(n0, n1)
        for wanted in (f"Tile {grouped(tile['index'])}, in round ", f"rows {rows} and columns {columns} of D",
                       f"rows {rows} of A and columns {columns} of B"):
            if wanted not in tile["says"]:
                fail(f"{what} says '{tile['says']}', not '{wanted}'")
        if tile["a"] != [f"rows {m0} .. {m1 - 1} of A"] or tile["b"] != [f"columns {n0} .. {n1 - 1} of B"]:
            fail(f"{what} lights up {tile['a']} and {tile['b']}")


def check_chunk(what, chunk, band, along, step, step_k, k):
    """The chunk covers its part of the band along k, and all of it across."""
    size = band[along + 2]
    wanted_start, wanted_size = step * step_k / k * size, min(step_k, k - step * step_k) / k * size
    if abs(chunk[1 - along] - band[1 - along]) > 0.01 or abs(chunk[3 - along] - band[3 - along]) > 0.01:
        fail(f"{what}: {chunk} is not across {band}")
    if abs(chunk[along] - band[along] - wanted_start) > 3.01 or abs(chunk[along + 2] - wanted_size) > 3.01:
        fail(f"{what}: {chunk} should begin at {wanted_start} of {band}, {wanted_size} long")
    if chunk[along] < band[along] - 0.01 or chunk[along] + chunk[along + 2] > band[along] + size + 0.01:
        fail(f"{what}: {chunk} leaves {band}")


def check_step(name, facts, seen, step):
    what = f"{name}: step {step} ({seen['how']})"
    k, steps = facts["problem"]["k"], max(1, facts["k_steps"])
    step_k = facts["levels"][1]["k"] if len(facts["levels"]) > 1 else k
    wanted = f"Step {grouped(step)} of 0 .. {grouped(steps - 1)}: k = {span(step * step_k, min(k, (step + 1) * step_k))}."
    if seen["says"] != wanted or seen["slider"] != step:
        fail(f"{what} says '{seen['says']}' with the slider at {seen['slider']}, not '{wanted}'")
    check_chunk(what + ", A", seen["chunkA"], seen["bandA"], 0, step, step_k, k)
    check_chunk(what + ", B", seen["chunkB"], seen["bandB"], 1, step, step_k, k)
    stages = facts["launch"].get("stages", 0)
    if stages < 2 or facts["algo"] == "simt-outer":
        if seen["slots"]:
            fail(f"{what}: slots without a ring")
        return
    slots = ["free"] * stages
    for held in range(step, min(step + stages, steps)):
        slots[held % stages] = f"step {grouped(held)} is " + ("multiplied" if held == step else "on its way")
    if seen["slots"] != slots:
        fail(f"{what}: slots {seen['slots']}, not {slots}")


def check(name, facts, seen, dark):
    for kind in ("errors", "overflows", "overlaps", "resources"):
        if seen[kind]:
            fail(f"{name}: {kind}: {seen[kind][:8]}")
    if seen["wide"] > seen["room"]:
        fail(f"{name}: {seen['wide']} pixels wide in a window of {seen['room']}")
    if seen["dark"] != dark:
        fail(f"{name}: dark is {seen['dark']}")
    for pair, contrast in seen["contrast"].items():
        if not contrast >= 4.5:
            fail(f"{name}: contrast of {pair} is {contrast:.2f}")
    nothing = facts["problem"]["m"] * facts["problem"]["n"] * facts["problem"]["k"] == 0
    if seen["walkable"] == nothing:
        fail(f"{name}: walkable is {seen['walkable']}")
    if nothing:
        return
    if len(seen["tiles"]) < 2 or len({tile["how"] for tile in seen["tiles"]}) < 3:
        fail(f"{name}: {len(seen['tiles'])} tiles were looked at")
    for tile in seen["tiles"]:
        check_tile(name, facts, tile)
    last = max(1, facts["k_steps"]) - 1
    wanted = [0, min(1, last), min(2, last), min(1, max(0, min(2, last) - 1)), last, last, 0, min(3, last)]
    # At the end of k playing stops by itself, and the last click starts it again.
    if seen["playing"] != ["Stop", "Play" if last >= 3 else "Stop"]:
        fail(f"{name}: playing {seen['playing']}")
    if len(seen["steps"]) != len(wanted):
        fail(f"{name}: {len(seen['steps'])} steps")
    for step, one in zip(wanted, seen["steps"]):
        check_step(name, facts, one, step)


PAGES = [
    ("h200", "8192 8192 8192 --type bf16_f32 --gpu h200", [(1280, False), (1280, True), (420, False)]),
    ("orin", "10000 10000 10000 --type s8_s32 --gpu orin --trans-a --beta 2", [(1280, False)]),
    ("cpu", "1000 1001 999 --type f64_f64", [(1280, False), (420, True)]),
    ("huge", "1000000 3000000 1000000 --type s8_s32 --gpu b200", [(1280, False)]),
    ("tiny", "1 1 1 --type f16_f16 --gpu rtx4090", [(420, False)]),
    ("columns", "700 1300 100 --type tf32_f32 --gpu h100 --order col", [(1280, False)]),
    ("direct", "300 500 1000 --type s8_s32 --gpu t4 --algo wmma-direct --batch 3", [(1280, False)]),
    ("outer", "777 2000 333 --type f32_f32 --gpu a100 --algo simt-outer", [(1280, False)]),
    ("empty", "0 5 7 --type f16_f32 --gpu l4", [(420, False)]),
    ("no_k", "50 60 0 --type f32_f32", [(1280, False)]),
    ("reference", "3 5 7 --type f32_f32 --algo reference", [(1280, False)]),
]


def main():
    program = browser()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for title, arguments, views in PAGES:
            page = folder / f"{title}.html"
            run = subprocess.run([TOOL, "explain", *arguments.split(), "--html", str(page), "--quiet"],
                                 capture_output=True, text=True, timeout=120)
            if run.returncode != 0 or run.stdout or run.stderr:
                fail(f"{title}: status {run.returncode}: {run.stdout}{run.stderr}")
                continue
            facts = facts_of(page)
            for width, dark in views:
                seen = look(program, page, folder, width, dark)
                if seen:
                    check(f"{title} {width} {'dark' if dark else 'light'}", facts, seen, dark)
    sys.exit(1 if failures else 0)


main()
