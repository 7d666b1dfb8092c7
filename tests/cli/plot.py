#!/usr/bin/python3
"""The plots: what is drawn is what was measured, axes have units, and refusals come before work.

SVG is read as XML; a marker's place is turned back into a value and compared with the table.
"""
import html.parser
import math
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET

tool = os.environ["TCGEMM"]
folder = pathlib.Path(tempfile.mkdtemp())
failures = 0
SVG = "{http://www.w3.org/2000/svg}"
LINK = "{http://www.w3.org/1999/xlink}href"
FAST = ["--samples", "3", "--min-seconds", "0", "--quiet"]


def expect(condition, what):
    global failures
    if not condition:
        print("FAIL:", what)
        failures += 1


def run(*arguments, path=None):
    environment = dict(os.environ)
    if path is not None:
        environment["PATH"] = path
    done = subprocess.run([tool, *map(str, arguments)], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stderr


def good(*arguments):
    status, told = run(*arguments)
    expect(status == 0, f"status {status}: {' '.join(map(str, arguments))}: {told}")


def refused(wanted, sentence, *arguments, path=None):
    begin = time.monotonic()
    status, told = run(*arguments, path=path)
    words = " ".join(map(str, arguments))
    expect(status == wanted, f"status {status}, not {wanted}: {words}: {told}")
    expect(sentence in told, f"no '{sentence}' for {words}: {told}")
    expect(time.monotonic() - begin < 30, f"something was measured before the refusal: {words}")


def write_table(name, rows, columns=("type", "m", "n", "k", "algo", "kernel", "gflops")):
    lines = [",".join(columns)] + [",".join(map(str, row)) for row in rows]
    (folder / name).write_text("\n".join(lines) + "\n")


# ---- reading a picture back ----------------------------------------------------------------------


def texts(svg):
    return ["".join(node.itertext()).strip() for node in svg.iter(SVG + "text")]


def place(node):
    found = re.match(r"translate\(([-0-9.]+),([-0-9.]+)\)", node.get("transform", ""))
    return float(found[1]), float(found[2])


def series(svg):
    """{name: [(x, y) of each marker]}; the last marker of gnuplot's is that of the legend, if there
    is a legend."""
    found = {}
    for group in svg.iter(SVG + "g"):
        if re.fullmatch(r"gnuplot_plot_\d+", group.get("id", "")):
            title = group.find(SVG + "title")
            marks = [place(use) for use in group.iter(SVG + "use") if use.get(LINK)]
            legend = next(group.iter(SVG + "text"), None) is not None
            found[title.text.strip()] = marks[:-1] if legend else marks
    return found


def ticks(svg, anchor):
    """{number: place} of the numbers along the y axis ("end") or the x axis ("middle")."""
    found = {}
    for group in svg.iter(SVG + "g"):
        text = group.find(SVG + "text")
        if text is not None and group.get("text-anchor") == anchor and group.get("transform"):
            try:
                found[float("".join(text.itertext()))] = place(group)[0 if anchor == "middle" else 1]
            except (ValueError, TypeError):
                pass
    return found


def value_at(y, numbers):
    """The value at a height, by the two outermost numbers of a linear axis. Markers and numbers are
    centred alike but for a constant, which the number 0 does not need: heights are differences."""
    (low, at_low), (high, at_high) = min(numbers.items()), max(numbers.items())
    return low + (high - low) * (at_low - y) / (at_low - at_high)


def picture(name):
    text = (folder / name).read_text()
    svg = ET.fromstring(text)
    expect(svg.tag == SVG + "svg", f"{name} is no SVG")
    card = next(svg.iter(SVG + "rect"))
    expect(card.get("fill") == "#ffffff", f"{name} has no white card")
    expect("Gnuplot" not in "".join(svg.find(SVG + "title").itertext()), f"{name} has no title")
    return svg


# ---- refusals, for which gnuplot need not be there -----------------------------------------------


def test_refusals():
    write_table("t.csv", [("f32_f32", 64, 64, 64, "cpu", "x", 5)])
    nowhere = str(folder)
    long = ["bench", "--shape", "20000", "--type", "f64_f64", "--no-progress"]
    refused(4, "gnuplot-nox", *long, "--plot", "a.svg", path=nowhere)
    refused(4, "gnuplot-nox", "plot", "t.csv", "-o", "a.svg", path=nowhere)
    refused(2, ".svg, .png or .html", *long, "--plot", "a.pdf")
    refused(2, ".svg, .png or .html", *long, "--plot", "a.svg/plot")
    refused(2, ".svg, .png or .html", "plot", "t.csv", "-o", "svg")
    refused(2, "--output", "plot", "t.csv")
    refused(2, "which table", "plot", "-o", "a.svg")
    refused(2, "--plot-kind", "plot", "t.csv", "--plot-kind", "pie", "-o", "a.svg")


def test_refusals_with_gnuplot():
    long = ["bench", "--shape", "20000", "--type", "f64_f64", "--no-progress"]
    (folder / "old.svg").write_text("precious")
    refused(3, "--force", *long, "--plot", "old.svg")
    refused(3, "--force", "plot", "t.csv", "-o", "old.svg")
    expect((folder / "old.svg").read_text() == "precious", "an existing file was changed")
    refused(3, "No such file", *long, "--plot", "no/such/a.svg")
    locked = folder / "locked"
    locked.mkdir(mode=0o555)
    if not os.access(locked, os.W_OK):
        refused(3, "Permission denied", *long, "--plot", "locked/a.svg")
    refused(3, "No such file", "plot", "none.csv", "-o", "a.svg")
    (folder / "bad.csv").write_text("type,m\nf32_f32\n")
    refused(3, "line 2", "plot", "bad.csv", "-o", "a.svg")
    (folder / "other.csv").write_text("name,age\nx,3\n")
    refused(3, "no column type", "plot", "other.csv", "-o", "a.svg")
    write_table("word.csv", [("f32_f32", 64, "many", 64, "cpu", "x", 5)])
    refused(3, "row 1: n is 'many'", "plot", "word.csv", "-o", "a.svg")
    refused(3, "no measurement", "plot", "t.csv", "--type", "f64_f64", "-o", "a.svg")
    refused(2, "several k", "plot", "t.csv", "--plot-kind", "k", "-o", "a.svg")
    refused(2, "f33_f32", "plot", "t.csv", "--type", "f33_f32", "-o", "a.svg")
    expect(not (folder / "a.svg").exists(), "a refusal left a picture")


# ---- pictures ------------------------------------------------------------------------------------


def test_over_k():
    """Two series of known values; their markers lie where the numbers of the axes say."""
    rates = {"f32_f32": {256: 1000, 512: 2000, 1024: 4000}, "f16_f32": {256: 3000, 1024: 7000}}
    write_table("k.csv", [(t, 800, 900, k, "simt-outer", "x", rate, "NVIDIA X1", "theory", 8000)
                          for t, points in rates.items() for k, rate in points.items()],
                ("type", "m", "n", "k", "algo", "kernel", "gflops", "device", "peak_kind",
                 "peak_gflops"))
    good("plot", "k.csv", "-o", "k.svg")
    svg = picture("k.svg")
    words = texts(svg)
    for text in ("Throughput over k: NVIDIA X1, f32_f32, f16_f32", "depth k (elements)",
                 "throughput (TFLOP/s)", "share of the peak (%)", "peak of f32_f32, f16_f32: "
                 "8.00 TFLOP/s", "m = 800, n = 900, simt-outer", "f16_f32"):
        expect(text in words, f"'{text}' is not in k.svg: {words}")
    found = series(svg)
    expect(sorted(found) == ["f16_f32", "f32_f32"], f"series are {sorted(found)}")
    heights = ticks(svg, "end")
    widths = ticks(svg, "middle")
    expect({256.0, 512.0, 1024.0} <= set(widths), f"x is numbered {sorted(widths)}")
    for name, points in rates.items():
        marks = found.get(name, [])
        expect(len(marks) == len(points), f"{name} has {len(marks)} markers")
        for (x, y), (k, rate) in zip(marks, sorted(points.items())):
            expect(abs(x - widths[k]) < 1, f"{name}: k = {k} is drawn at {x}")
            got = value_at(y + 4.55, heights)  # a number's base line is that much below its middle
            expect(abs(got - rate / 1000) < 0.05, f"{name}: {rate / 1000} is drawn at {got}")


def test_roofline():
    write_table("r.csv", [("f32_f32", n, n, n, "cpu", "x", rate, 400, "measured", 20, "measured")
                          for n, rate in ((32, 80), (512, 300))],
                ("type", "m", "n", "k", "algo", "kernel", "gflops", "peak_gflops", "peak_kind",
                 "memory_gb_per_second", "memory_kind"))
    good("plot", "r.csv", "-o", "r.svg", "--plot-kind", "roofline")
    svg = picture("r.svg")
    words = texts(svg)
    for text in ("arithmetic intensity (FLOP/byte)", "throughput (GFLOP/s)",
                 "peak: 400 GFLOP/s", "memory: 20.0 GB/s",
                 "Median; peaks and memory as measured"):
        expect(text in words, f"'{text}' is not in r.svg: {words}")
    marks = list(series(svg).values())
    expect([len(m) for m in marks] == [2], f"the roofline has markers {marks}")
    status, told = run("plot", "k.csv", "-o", "r2.svg", "--plot-kind", "roofline")
    expect(status == 0 and "no slope" in told, f"a table without bandwidth: {status} {told}")


def lines_of(svg):
    """[(x0, y0, x1, y1)] of the straight lines of the picture, but for the pale ones of the grid."""
    found = []
    for path in svg.iter(SVG + "path"):
        if "228" in path.get("stroke", ""):
            continue
        numbers = [float(n) for n in re.findall(r"-?[0-9.]+", path.get("d", ""))]
        if len(numbers) == 4:
            found.append((min(numbers[0::2]), numbers[1], max(numbers[0::2]), numbers[3]))
    return found


def names_of_peaks(svg):
    """{name: (x0, x1, y)} of the labels that begin with peak; y is their middle."""
    found = {}
    for group in svg.iter(SVG + "g"):
        text = group.find(SVG + "text")
        words = "".join(text.itertext()).strip() if text is not None else ""
        if not words.startswith("peak"):
            continue
        x, y = place(group)
        width = 7.5 * len(words)
        x0 = x - width if group.get("text-anchor") == "end" else x
        found[words] = (x0, x0 + width, y - 5)
    return found


def test_close_peaks():
    """Peaks that lie closer than names are high: every name is there, whole, and nothing strikes it through."""
    types = ("f32_f32", "f64_f64", "s8_s32", "bf16_f32", "f16_f32", "u8_s32")
    for kind, rows in (("roofline", ((400, 396), (100, 99), (390, 386), (380, 376), (300, 297), (110, 109))),
                       ("size", ((400, 396), (360, 340), (385, 386), (372, 376), (300, 297), (110, 109))),
                       ("roofline", ((1000, 600), (960, 600), (920, 600), (880, 600), (845, 600), (810, 600)))):
        table = [(t, n, n, n, "cpu", "x", rate * scale, peak, "measured", 20, "measured")
                 for t, (peak, rate) in zip(types, rows) for n, scale in ((32, 0.3), (512, 1))]
        write_table("close.csv", table, ("type", "m", "n", "k", "algo", "kernel", "gflops", "peak_gflops", "peak_kind",
                                         "memory_gb_per_second", "memory_kind"))
        good("plot", "close.csv", "-o", "close.svg", "--plot-kind", kind, "-f")
        svg = picture("close.svg")
        names = names_of_peaks(svg)
        values = sorted(float(re.search(r": ([0-9.]+) ", name)[1]) for name in names)
        expect(values == sorted(peak for peak, _ in rows), f"{kind}: of {rows} the names are {sorted(names)}")
        flat = [line for line in lines_of(svg) if line[1] == line[3] and line[2] - line[0] > 50]
        expect(len(flat) >= len(rows), f"{kind}: {len(flat)} lines")
        for name, (x0, x1, y) in names.items():
            expect(66 - 20 < y and x0 > 60 and x1 < 860, f"{kind}: '{name}' at {x0}, {y} leaves the plot")
            for other, (u0, u1, v) in names.items():
                expect(other == name or abs(v - y) > 12 or u1 < x0 or u0 > x1, f"{kind}: '{name}' lies on '{other}'")
            dark = [line for line in flat if line[0] < x1 and line[2] > x0 and abs(line[1] - y) < 6]
            expect(not dark, f"{kind}: '{name}' at {y} is struck through by {dark}")


def test_model():
    """Predicted against measured: each point where it belongs, the errors in words."""
    micro = {"cpu": [(10, 11), (100, 90), (1000, 1000)], "reference": [(50, 80)]}
    rows = [("f32_f32", 8, 8, 8 + i, algo, "x", 5, measured * 1e-6, predicted * 1e-6)
            for algo, times in micro.items() for i, (measured, predicted) in enumerate(times)]
    write_table("model.csv", rows, ("type", "m", "n", "k", "algo", "kernel", "gflops",
                                    "time_median_seconds", "predicted_seconds"))
    good("plot", "model.csv", "-o", "model.svg", "--plot-kind", "model")
    svg = picture("model.svg")
    words = texts(svg)
    for text in ("measured time (us)", "predicted time (us)",
                 "4 problems: median error 10.0 %, nine in ten within 10.0 %; 75 % of them between the "
                 "dotted lines, 25 % off"):
        expect(text in words, f"'{text}' is not in model.svg: {words}")
    found = series(svg)
    across, up = ({math.log(n): at for n, at in ticks(svg, anchor).items()} for anchor in ("middle", "end"))
    for algo, times in micro.items():
        expect(len(found[algo]) == len(times), f"{algo} has {len(found[algo])} points")
        for (x, y), (measured, predicted) in zip(sorted(found[algo]), times):
            # Numbers stand a constant beside their ticks: differences to the first point count.
            x0, y0 = sorted(found["cpu"])[0]
            ((a, at_a), (b, at_b)), ((c, at_c), (d, at_d)) = (
                (min(axis.items()), max(axis.items())) for axis in (across, up))
            expect(abs((x - x0) / (at_b - at_a) * (b - a) - math.log(measured / 10)) < 0.02,
                   f"{algo}: {measured} us lie at {x}")
            expect(abs((y - y0) / (at_d - at_c) * (d - c) - math.log(predicted / 11)) < 0.02,
                   f"{algo}: {predicted} us lie at {y}")
    refused(2, "predicted_seconds", "plot", "t.csv", "-o", "no.svg", "--plot-kind", "model")


def test_bars():
    write_table("p.csv", [("f16_f32", 64, 64, 64, "cpu", "a", 300, 0.1, "lib", 600, 0.5),
                          ("f64_f64", 64, 64, 64, "cpu", "b", 200, 0.1, "lib", 100, 2.0)],
                ("type", "m", "n", "k", "algo", "kernel", "gflops", "time_spread_fraction",
                 "peer", "peer_gflops", "ratio_median"))
    good("plot", "p.csv", "-o", "p.svg")
    svg = picture("p.svg")
    words = texts(svg)
    for text in ("throughput (GFLOP/s)", "f16_f32, tcgemm", "f64_f64, tcgemm", "lib",
                 "300, 0.50 times lib", "200, 2.00 times lib", "tcgemm against lib: CPU, 1 thread, "
                 "f16_f32, f64_f64"):
        expect(text in words, f"'{text}' is not in p.svg: {words}")
    widths = {}
    for polygon in svg.iter(SVG + "polygon"):
        numbers = [float(n) for n in re.findall(r"[-0-9.]+", polygon.get("points"))]
        xs, ys = numbers[0::2], numbers[1::2]
        if max(ys) - min(ys) > 5:
            widths[round(min(ys))] = max(xs) - min(xs)
    ordered = [width for _, width in sorted(widths.items())]
    expect(len(ordered) == 4, f"there are bars {widths}")
    if len(ordered) == 4:
        for width, rate in zip(ordered, (300, 600, 200, 100)):
            expect(abs(width / ordered[1] - rate / 600) < 0.01, f"bars are {ordered} wide")


def test_classes_and_several_peers():
    columns = ("type", "m", "n", "k", "algo", "kernel", "gflops", "class", "peer", "peer_is_best",
               "peer_gflops", "time_median_seconds")
    rows = [("f32_f32", n, n, n, "cpu", "k", 100 + n, name, peer, best, 50 + n, 1e-3)
            for name, step in (("one", 0), ("two", 7))
            for n, peer, best in ((64 + step, "a sgemm", "yes"), (64 + step, "b sgemm", "no"),
                                  (128 + step, "a sgemm", "no"), (128 + step, "b sgemm", "yes"),
                                  (256 + step, "b sgemm", "yes"))]
    write_table("classes.csv", rows, columns)
    good("plot", "classes.csv", "--class", "two", "-o", "classes.svg", "--force")
    drawn = series(picture("classes.svg"))
    counts = {name: len(points) for name, points in drawn.items()}
    expect(counts == {"tcgemm": 3, "best peer": 3}, f"{drawn}")
    refused(3, "", "plot", "classes.csv", "--class", "three", "-o", "none.svg")


def test_hostile_texts():
    """Texts of a table reach gnuplot, XML and HTML as texts."""
    name = '"x`touch owned` \'\'<b>&amp; $(touch owned) %d\\n"""'
    write_table("evil.csv", [("f32_f32", n, n, n, "cpu", "x", 5, name) for n in (64, 128)],
                ("type", "m", "n", "k", "algo", "kernel", "gflops", "device"))
    good("plot", "evil.csv", "-o", "evil.svg")
    expect(any("<b>&amp; $(touch owned)" in text for text in texts(picture("evil.svg"))),
           "the name of the device is not drawn as it is")
    good("plot", "evil.csv", "-o", "evil.html")
    expect("<b>" not in (folder / "evil.html").read_text(), "a text became HTML")
    expect(not (folder / "owned").exists(), "a text became a command")


def test_many_series():
    write_table("many.csv", [("f32_f32", n, n, n, f"algo{a}", "x", 5 + a) for a in range(30)
                             for n in (64, 128)])
    status, told = run("plot", "many.csv", "-o", "many.svg")
    expect(status == 0 and "left out" in told, f"30 series: {status} {told}")
    expect(len(series(picture("many.svg"))) == 16, "16 series are drawn")
    good("plot", "many.csv", "--algo", "algo3,algo7", "-o", "two.svg")
    expect(sorted(series(picture("two.svg"))) == ["algo3", "algo7"], "--algo does not choose")


# ---- from a measurement to the page --------------------------------------------------------------


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.rows = self.svgs = 0
        self.outside = []

    def handle_starttag(self, tag, attributes):
        self.rows += tag == "tr"
        self.svgs += tag == "svg"
        for name, value in attributes:
            if name in ("src", "href", "xlink:href", "data") and not (value or "").startswith("#"):
                self.outside.append(value)
        if tag in ("script", "link", "img", "iframe"):
            self.outside.append(tag)


def test_bench():
    good("bench", "--shape", "16,32,48", "--type", "f32_f32,s8_s32", *FAST, "--csv", "b.csv",
         "--plot", "b.svg")
    svg = picture("b.svg")
    found = series(svg)
    expect(sorted(found) == ["f32_f32", "s8_s32"], f"series are {sorted(found)}")
    expect(all(len(marks) == 3 for marks in found.values()), f"markers are {found}")
    words = texts(svg)
    expect("size m = n = k (elements)" in words, "the x axis has no unit")
    expect(any(re.fullmatch(r"throughput \([GT]FLOP/s, [GT]OP/s\)", w) for w in words),
           f"the y axis has no unit: {words}")

    header, *rows = [line.split(",") for line in (folder / "b.csv").read_text().splitlines()]
    at = header.index("memory_gb_per_second")
    expect(all(1 < float(row[at]) < 10000 for row in rows), "the bandwidth is not measured")

    good("plot", "b.csv", "-o", "again.svg")
    expect((folder / "again.svg").read_bytes() == (folder / "b.svg").read_bytes(),
           "the kept table gives another picture")
    good("plot", "b.csv", "-o", "again.svg", "--force", "--type", "s8_s32")
    again = picture("again.svg")
    expect([len(marks) for marks in series(again).values()] == [3] and
           any("s8_s32" in text for text in texts(again)) and
           not any("f32_f32" in text for text in texts(again)), "--type does not choose")

    good("plot", "b.csv", "-o", "b.html")
    text = (folder / "b.html").read_text()
    page = Page()
    page.feed(text)
    expect(page.svgs == 1 and page.rows == 1 + len(rows), f"{page.svgs} SVG, {page.rows} rows")
    expect(not page.outside and "http" not in text, f"the page needs others: {page.outside}")

    good("plot", "b.csv", "-o", "b.png")
    data = (folder / "b.png").read_bytes()
    expect(data[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">I", data[16:20])[0] == 1720,
           "b.png is no PNG of its width")


def test_bench_by_kernel():
    good("bench", "--shape", "16", "--kernel", "reference,cpu_any_f32_4x12", *FAST, "--csv",
         "t2.csv", "--plot", "t2.svg")
    words = texts(picture("t2.svg"))
    expect(any(w.endswith("any_f32_4x12") for w in words), f"a bar has no name: {words}")
    expect(len((folder / "t2.csv").read_text().splitlines()) == 3, "--kernel is no list")


test_refusals()
if not shutil.which("gnuplot"):
    print("skipped: no gnuplot")
    shutil.rmtree(folder)
    sys.exit(1 if failures else 77)
for test in (test_refusals_with_gnuplot, test_over_k, test_roofline, test_close_peaks, test_model, test_bars,
             test_classes_and_several_peers, test_hostile_texts,
             test_many_series, test_bench, test_bench_by_kernel):
    test()
left = [path.name for path in folder.iterdir() if path.name.endswith(".part")]
expect(not left, f"temporary files are left: {left}")
shutil.rmtree(folder)
print("plots show what was measured" if failures == 0 else f"{failures} failures")
sys.exit(failures > 0)
