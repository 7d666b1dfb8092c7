#!/usr/bin/env python3
"""docs/walkthrough/draw.py [--check]: draws the four diagrams of docs/walkthrough.md.

Each is one SVG beside this file, in colours that the colour-blind tell apart, with a light and a
dark suit. --check draws nothing and fails if a file differs from what would be drawn.
"""
import os
import sys

# name: (light, dark)
SUITS = {
    "card": ("#ffffff", "#15191f"),
    "edge": ("#d0d7de", "#3a424c"),
    "ink": ("#1f2328", "#e6edf3"),
    "dim": ("#57606a", "#a3adb8"),
    "a": ("#0072b2", "#4aa8e0"),
    "b": ("#b86e00", "#f0a63c"),
    "d": ("#00805d", "#2fc197"),
}


def suit(index):
    """The rules that give every class its colours in one suit."""
    c = {name: both[index] for name, both in SUITS.items()}
    rules = [
        f".card{{fill:{c['card']};stroke:{c['edge']}}}",
        f".ink{{fill:{c['ink']}}}.dim{{fill:{c['dim']}}}",
        f".rule{{stroke:{c['dim']}}}.tip{{fill:{c['dim']}}}",
        f".hatch{{stroke:{c['dim']}}}",
        f".none{{stroke:{c['dim']}}}",
    ]
    for name in "abd":
        rules.append(f".{name}{{fill:{c[name]};stroke:{c[name]}}}")
        rules.append(f".{name}-line{{stroke:{c[name]}}}.{name}-text{{fill:{c[name]}}}")
    return "".join(rules)


STYLE = (
    "text{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',Helvetica,Arial,sans-serif;"
    "font-size:14px}.small{font-size:12px}.big{font-size:17px;font-weight:600}"
    ".pale{fill-opacity:.13;stroke-opacity:.55}.mid{fill-opacity:.32}.full{fill-opacity:.62}"
    ".rule{fill:none;stroke-width:1.2}.none{fill:none}.grid{fill:none;stroke-opacity:.55}"
    ".hatch{fill:none;stroke-opacity:.75;stroke-width:1.1}"
    + suit(0) + "@media (prefers-color-scheme:dark){" + suit(1) + "}"
)


class Drawing:
    """An SVG in the making."""

    def __init__(self, name, width, height, title):
        self.name, self.width, self.height, self.title = name, width, height, title
        self.parts = []

    def add(self, part):
        self.parts.append(part)

    def box(self, x, y, w, h, classes, radius=0):
        rounded = f' rx="{radius}"' if radius else ""
        self.add(f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}"{rounded} '
                 f'class="{classes}"/>')

    def zeros(self, x, y, w, h):
        """What is padding: hatched."""
        self.add(f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" fill="url(#zeros)"/>')

    def text(self, x, y, words, classes="ink", anchor="start", turn=0):
        turned = f' transform="rotate({turn} {x:g} {y:g})"' if turn else ""
        self.add(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" class="{classes}"{turned}>'
                 f"{words}</text>")

    def line(self, x1, y1, x2, y2, classes="rule", arrow=False):
        tip = ' marker-end="url(#tip)"' if arrow else ""
        self.add(f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" class="{classes}"{tip}/>')

    def span(self, x1, y1, x2, y2):
        """A dimension line: a stroke with a small bar at each end."""
        if y1 == y2:
            ends = f"M{x1:g} {y1 - 5:g}v10M{x2:g} {y1 - 5:g}v10"
        else:
            ends = f"M{x1 - 5:g} {y1:g}h10M{x1 - 5:g} {y2:g}h10"
        self.add(f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}{ends}" class="rule"/>')

    def tiles(self, x, y, w, h, step_x, step_y, classes):
        """The lines of a grid of tiles, and its frame."""
        path = [f"M{x:g} {y:g}h{w:g}v{h:g}h{-w:g}z"]
        i = 1
        while i * step_x < w - 0.01:
            path.append(f"M{x + i * step_x:g} {y:g}v{h:g}")
            i += 1
        i = 1
        while i * step_y < h - 0.01:
            path.append(f"M{x:g} {y + i * step_y:g}h{w:g}")
            i += 1
        self.add(f'<path d="{"".join(path)}" class="{classes}"/>')

    def source(self):
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" role="img" aria-labelledby="title">',
            f'<title id="title">{self.title}</title>',
            f"<style>{STYLE}</style>",
            '<defs><pattern id="zeros" width="6" height="6" patternUnits="userSpaceOnUse">'
            '<path d="M-1 1L1 -1M0 6L6 0M5 7L7 5" class="hatch"/></pattern>'
            '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            'markerHeight="7" orient="auto-start-reverse">'
            '<path d="M0 0L8 4L0 8z" class="tip"/></marker></defs>',
            f'<rect x=".5" y=".5" width="{self.width - 1}" height="{self.height - 1}" rx="8" '
            'class="card"/>',
            *self.parts,
            "</svg>", ""])


def matrix(s, x, y, rows, cols, padded_rows, padded_cols, unit, kind):
    """A matrix in its padded frame, with the lines of its 16 x 16 tiles."""
    w, h, pw, ph = cols * unit, rows * unit, padded_cols * unit, padded_rows * unit
    s.box(x, y, w, h, f"{kind} pale")
    if pw > w:
        s.zeros(x + w, y, pw - w, ph)
    if ph > h:
        s.zeros(x, y + h, w, ph - h)
    s.tiles(x, y, pw, ph, 16 * unit, 16 * unit, f"{kind}-line grid")
    s.add(f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" class="{kind}-line none" '
          'stroke-width="2"/>')


def product():
    m, n, k, unit = 40, 56, 24, 4
    s = Drawing("product", 640, 474, "The product and its padding")
    tile = 16 * unit
    ax, bx, by, dy = 84, 262, 72, 246
    matrix(s, ax, dy, m, k, 48, 32, unit, "a")
    matrix(s, bx, by, k, n, 32, 64, unit, "b")
    matrix(s, bx, dy, m, n, 48, 64, unit, "d")
    # One tile of D, its rows of A, its columns of B.
    s.box(ax, dy + tile, 2 * tile, tile, "a mid")
    s.box(bx + 2 * tile, by, tile, 2 * tile, "b mid")
    s.box(bx + 2 * tile, dy + tile, tile, tile, "d full")
    s.line(ax + 2 * tile + 4, dy + 1.5 * tile, bx + 2 * tile - 6, dy + 1.5 * tile, "rule", True)
    s.line(bx + 2.5 * tile, by + 2 * tile + 4, bx + 2.5 * tile, dy + tile - 6, "rule", True)
    # Names and sizes.
    s.text(ax + 0.5 * tile, dy + 0.62 * tile, "A", "a-text big", "middle")
    s.text(bx + 0.5 * tile, by + 0.72 * tile, "B", "b-text big", "middle")
    s.text(bx + 0.5 * tile, dy + 0.62 * tile, "D", "d-text big", "middle")
    s.span(ax - 14, dy, ax - 14, dy + m * unit)
    s.text(ax - 24, dy + m * unit / 2, "m = 40", "ink", "middle", -90)
    s.span(ax, dy - 14, ax + k * unit, dy - 14)
    s.text(ax + k * unit / 2, dy - 24, "k = 24", "ink", "middle")
    s.span(bx - 14, by, bx - 14, by + k * unit)
    s.text(bx - 24, by + k * unit / 2, "k = 24", "ink", "middle", -90)
    s.span(bx, by - 14, bx + n * unit, by - 14)
    s.text(bx + n * unit / 2, by - 24, "n = 56", "ink", "middle")
    right = bx + 64 * unit + 14
    s.text(right, by + 20, "padded to", "dim small")
    s.text(right, by + 36, "32 × 64", "dim small")
    s.text(right, dy + 20, "padded to", "dim small")
    s.text(right, dy + 36, "48 × 64", "dim small")
    s.text(ax + tile, dy + 3 * tile + 20, "padded to 48 × 32", "dim small", "middle")
    # Legend, in the empty corner.
    s.box(30, 58, 18, 18, "dim-line none")
    s.zeros(30, 58, 18, 18)
    s.text(56, 72, "padding", "ink")
    s.box(30, 88, 18, 18, "d full")
    s.text(56, 102, "a tile, 16 × 16,", "ink")
    s.text(56, 122, "takes its rows of A", "ink")
    s.text(56, 142, "and columns of B", "ink")
    s.text(bx, dy + 3 * tile + 20, "beyond m and n nothing is stored", "dim small")
    return s


def blocks():
    m, n, unit = 280, 150, 1.3
    s = Drawing("blocks", 640, 530, "How blocks map to D")
    x0, y0, side = 92, 84, 64 * unit
    s.box(x0, y0, n * unit, m * unit, "d pale")
    s.zeros(x0 + n * unit, y0, 3 * side - n * unit, 5 * side)
    s.zeros(x0, y0 + m * unit, n * unit, 5 * side - m * unit)
    s.tiles(x0, y0, 3 * side, 5 * side, side, side, "rule")
    s.add(f'<rect x="{x0}" y="{y0}" width="{n * unit:g}" height="{m * unit:g}" '
          'class="d-line none" stroke-width="2.5"/>')
    for y in range(4):
        for x in range(2):
            s.text(x0 + (x + 0.5) * side, y0 + (y + 0.5) * side + 5, f"({x}, {y})", "ink",
                   "middle")
    for x in range(3):
        s.text(x0 + (x + 0.5) * side, y0 - 10, f"x = {x}", "dim small", "middle")
    for y in range(5):
        s.text(x0 - 10, y0 + (y + 0.5) * side + 4, f"y = {y}", "dim small", "end")
    s.span(x0, y0 - 34, x0 + n * unit, y0 - 34)
    s.text(x0 + n * unit / 2, y0 - 44, f"n = {n}", "ink", "middle")
    s.span(x0 - 58, y0, x0 - 58, y0 + m * unit)
    s.text(x0 - 66, y0 + m * unit / 2, f"m = {m}", "ink", "middle", -90)
    # The corner block, enlarged.
    zx, zy, zoom = 410, 268, 3.0
    cell, whole = 16 * zoom, 64 * zoom
    w, h = (n - 128) * zoom, (m - 256) * zoom
    cx, cy = x0 + 2 * side, y0 + 4 * side
    s.line(cx + side, cy, zx, zy)
    s.line(cx + side, cy + side, zx, zy + whole)
    s.box(zx, zy, w, h, "d pale")
    s.zeros(zx + w, zy, whole - w, whole)
    s.zeros(zx, zy + h, w, whole - h)
    s.box(zx, zy, 2 * cell, 2 * cell, "d mid")
    s.tiles(zx, zy, whole, whole, cell, cell, "rule")
    s.add(f'<path d="M{zx + w:g} {zy:g}v{h:g}h{-w:g}" class="d-line none" stroke-width="2.5"/>')
    s.text(zx, zy - 32, "block (2, 4): 4 of its 16 warps", "ink")
    s.text(zx, zy - 12, "have a tile, 12 return at once", "ink")
    s.text(zx, zy + whole + 22, "16 tiles of 16 × 16", "dim small")
    # Words.
    s.text(410, 84, "grid: 3 × 5 blocks", "ink big")
    s.text(410, 112, "block (x, y) has", "ink")
    s.text(410, 132, "rows 64 y … 64 y + 63,", "ink")
    s.text(410, 152, "columns 64 x … 64 x + 63", "ink")
    return s


def warps():
    s = Drawing("warps", 660, 514, "How the warps of a block map to tiles")
    cell, dx, dy = 68, 200, 194
    ax, aw, by, bh = 30, 132, 66, 92
    for i in range(4):
        on = i == 1
        s.box(ax, dy + i * cell, aw, cell, "a " + ("mid" if on else "pale"))
        s.text(ax + aw / 2, dy + i * cell + 30, f"rows {16 * i} … {16 * i + 15}",
               "ink small", "middle")
        s.text(ax + aw / 2, dy + i * cell + 48, "w" + " w".join(str(4 * i + j) for j in range(4)),
               "dim small", "middle")
    for j in range(4):
        on = j == 2
        x = dx + j * cell
        s.box(x, by, cell, bh, "b " + ("mid" if on else "pale"))
        s.text(x + cell / 2, by + 30, "columns", "ink small", "middle")
        s.text(x + cell / 2, by + 46, f"{16 * j} … {16 * j + 15}", "ink small", "middle")
        s.text(x + cell / 2, by + 66, f"w{j} w{j + 4}", "dim small", "middle")
        s.text(x + cell / 2, by + 82, f"w{j + 8} w{j + 12}", "dim small", "middle")
    for i in range(4):
        for j in range(4):
            on = (i, j) == (1, 2)
            shared = i == 1 or j == 2
            s.box(dx + j * cell, dy + i * cell, cell, cell,
                  "d " + ("full" if on else "mid" if shared else "pale"))
            s.text(dx + (j + 0.5) * cell, dy + (i + 0.5) * cell + 6, f"w{4 * i + j}",
                   "ink big" if on else "ink", "middle")
    s.line(ax + aw + 4, dy + 1.5 * cell, dx - 6, dy + 1.5 * cell, "rule", True)
    s.line(dx + 2.5 * cell, by + bh + 4, dx + 2.5 * cell, dy - 6, "rule", True)
    s.text(ax + aw / 2, dy - 14, "64 rows of A, all of k", "a-text", "middle")
    s.text(dx + 2 * cell, by - 14, "64 columns of B, all of k", "b-text", "middle")
    s.text(dx + 2 * cell, dy + 4 * cell + 22, "64 × 64 elements of D: one block, 512 threads",
           "d-text", "middle")
    right = dx + 4 * cell + 22
    s.text(right, dy + 20, "w6 has", "ink")
    s.text(right, dy + 40, "tile row 6 / 4 = 1,", "ink")
    s.text(right, dy + 60, "column 6 % 4 = 2", "ink")
    s.text(right, dy + 100, "It shares its rows", "dim")
    s.text(right, dy + 120, "with w4, w5, w7,", "dim")
    s.text(right, dy + 140, "its columns with", "dim")
    s.text(right, dy + 160, "w2, w10, w14.", "dim")
    return s


def walk():
    s = Drawing("walk", 640, 500, "The walk of a warp along k")
    tile, steps = 50, 6
    ax, bx, by = 40, 400, 64
    dy = by + steps * tile + 30
    kept = 13 / 16  # of the last step, k = 93
    for i in range(steps):
        on = "mid" if i == 2 else "pale"
        s.box(ax + i * tile, dy, tile, tile, f"a {on}")
        s.box(bx, by + i * tile, tile, tile, f"b {on}")
    s.zeros(ax + (steps - 1 + kept) * tile, dy, (1 - kept) * tile, tile)
    s.zeros(bx, by + (steps - 1 + kept) * tile, tile, (1 - kept) * tile)
    for i in range(steps):
        s.text(ax + (i + 0.42) * tile, dy + 31, f"A<tspan dy='4' font-size='11'>{i}</tspan>",
               "ink", "middle")
        s.text(bx + tile / 2, by + (i + 0.5) * tile + 2,
               f"B<tspan dy='4' font-size='11'>{i}</tspan>", "ink", "middle")
    s.box(bx, dy, tile, tile, "d full")
    s.text(bx + tile + 12, dy + 22, "sums, 16 × 16,", "d-text")
    s.text(bx + tile + 12, dy + 41, "in registers", "d-text")
    s.line(ax, dy + tile + 16, ax + steps * tile, dy + tile + 16, "rule", True)
    s.text(ax + steps * tile / 2, dy + tile + 36, "k = 93: 6 steps of 16", "ink", "middle")
    s.line(bx + tile + 16, by, bx + tile + 16, by + steps * tile, "rule", True)
    s.text(bx + tile + 28, by + 20, "16 columns", "b-text")
    s.text(bx + tile + 28, by + 39, "of B", "b-text")
    s.text(bx + tile + 28, by + 5.55 * tile, "the last step", "dim small")
    s.text(bx + tile + 28, by + 5.55 * tile + 16, "has 13 rows, and", "dim small")
    s.text(bx + tile + 28, by + 5.55 * tile + 32, "3 of zeros", "dim small")
    s.text(ax, dy - 12, "16 rows of A", "a-text")
    # The timetable.
    s.text(ax, 50, "step", "dim small")
    s.text(ax + 62, 50, "load", "dim small")
    s.text(ax + 162, 50, "multiply", "dim small")
    for i in range(steps):
        y = by + i * 41
        tone = "mid" if i == 2 else "pale"
        s.text(ax + 10, y + 22, str(i), "ink", "middle")
        s.box(ax + 52, y + 2, 34, 30, f"a {tone}")
        s.box(ax + 94, y + 2, 34, 30, f"b {tone}")
        s.text(ax + 69, y + 21, f"A<tspan dy='3' font-size='10'>{i}</tspan>", "ink small", "middle")
        s.text(ax + 111, y + 21, f"B<tspan dy='3' font-size='10'>{i}</tspan>", "ink small",
               "middle")
        s.text(ax + 162, y + 22,
               f"sums += A<tspan dy='3' font-size='10'>{i}</tspan><tspan dy='-3'> B</tspan>"
               f"<tspan dy='3' font-size='10'>{i}</tspan>", "ink")
    s.text(bx + tile / 2, dy + tile + 36, "D = alpha sums + beta C", "ink", "middle")
    return s


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    stale = []
    for draw in (product, blocks, warps, walk):
        drawing = draw()
        path = os.path.join(here, drawing.name + ".svg")
        if check:
            try:
                with open(path, encoding="utf-8") as file:
                    same = file.read() == drawing.source()
            except FileNotFoundError:
                same = False
            stale += [] if same else [drawing.name + ".svg"]
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(drawing.source())
    if stale:
        sys.exit("draw.py would change " + ", ".join(stale))


if __name__ == "__main__":
    main()
