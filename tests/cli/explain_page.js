/* Runs inside the page of explain, put there by explain_page.py: works its controls as a reader
 * would, measures its texts, and leaves what it saw as JSON in an element called observed. */
"use strict";
(function () {
  const seen = { errors: window.observedErrors, overflows: [], overlaps: [], tiles: [], steps: [] };
  const text = (id) => document.getElementById(id).textContent;
  const lit = (name) => Array.from(document.querySelectorAll("#explore ." + name + ".lit"));

  function observeTile(tile, how) {
    const a = lit("a");
    const b = lit("b");
    seen.tiles.push({
      how: how,
      index: Number(tile.dataset.index),
      says: text("which"),
      lit: lit("tile").map((t) => Number(t.dataset.index)),
      a: a.map((band) => band.querySelector("title").textContent),
      b: b.map((band) => band.querySelector("title").textContent),
      // the bands stand beside the tile and above it
      beside: a.every((band) => band.getAttribute("y") === tile.getAttribute("y")),
      above: b.every((band) => band.getAttribute("x") === tile.getAttribute("x")),
    });
  }

  function observeStep(how) {
    const box = (selector) => {
      const r = document.querySelector(selector).getBBox();
      return [r.x, r.y, r.width, r.height];
    };
    seen.steps.push({
      how: how,
      says: text("where"),
      slider: Number(document.getElementById("step").value),
      slots: Array.from(document.querySelectorAll("#slots li b")).map((b) => b.textContent),
      chunkA: box(".chunk-a"),
      chunkB: box(".chunk-b"),
      bandA: box(".a.lit"),
      bandB: box(".b.lit"),
    });
  }

  function workTiles() {
    const tiles = Array.from(document.querySelectorAll("#explore .tile"));
    observeTile(tiles[0], "start");
    for (const tile of tiles.filter((t, i) => i % 7 === 3 || i === tiles.length - 1)) {
      tile.dispatchEvent(new PointerEvent("pointerenter"));
      observeTile(tile, "pointer");
    }
    tiles[0].focus();
    observeTile(tiles[0], "focus");
    for (const [key, row, col] of [["ArrowRight", 0, 1], ["ArrowDown", 1, 1], ["ArrowLeft", 1, 0],
                                   ["ArrowUp", 0, 0], ["ArrowUp", 0, 0]]) {
      document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: key, bubbles: true }));
      const wanted = tiles.find((t) => t.dataset.row === String(row) && t.dataset.col === String(col));
      if (wanted && document.activeElement === wanted) observeTile(wanted, key);
      else if (wanted) seen.errors.push(key + " does not lead to " + row + ", " + col);
    }
  }

  function workSteps() {
    const click = (id) => document.getElementById(id).click();
    const slider = document.getElementById("step");
    observeStep("start");
    click("next");
    observeStep("next");
    click("next");
    observeStep("next");
    click("back");
    observeStep("back");
    slider.value = slider.max;
    slider.dispatchEvent(new Event("input"));
    observeStep("slider");
    click("next");
    observeStep("beyond");
    slider.value = "0";
    slider.dispatchEvent(new Event("input"));
    click("back");
    observeStep("before");
    click("play");
    seen.playing = [text("play")];
    for (let i = 0; i < 3; ++i) window.observedTimers[window.observedTimers.length - 1]();
    observeStep("played");
    click("play");
    seen.playing.push(text("play"));
  }

  /* Texts inside their drawing, and none on top of another. */
  function measureTexts() {
    for (const svg of document.querySelectorAll("svg")) {
      const frame = svg.getBoundingClientRect();
      const name = svg.querySelector("title") ? svg.querySelector("title").id : "explore";
      const boxes = Array.from(svg.querySelectorAll("text"))
        .filter((t) => t.textContent)
        .map((t) => ({ text: t.textContent, turned: t.closest("[transform]") !== null,
                       at: t.getBoundingClientRect() }));
      for (const { text: words, at } of boxes)
        if (at.left < frame.left - 1 || at.right > frame.right + 1 || at.top < frame.top - 1 ||
            at.bottom > frame.bottom + 1)
          seen.overflows.push(name + ": " + words);
      const upright = boxes.filter((box) => !box.turned);
      const scale = svg.viewBox.baseVal.width / frame.width;
      upright.forEach((one, i) => {
        for (const other of upright.slice(i + 1)) {
          const wide = Math.min(one.at.right, other.at.right) - Math.max(one.at.left, other.at.left);
          const high = Math.min(one.at.bottom, other.at.bottom) - Math.max(one.at.top, other.at.top);
          if (wide * scale > 1 && high * scale > 4) // lines stand close, their letters apart
            seen.overlaps.push(name + ": '" + one.text + "' on '" + other.text + "'");
        }
      });
    }
  }

  /* Nothing makes the page itself scroll sideways, and what scrolls by itself is meant to. */
  function measurePage() {
    const room = document.documentElement.clientWidth;
    seen.room = room;
    seen.wide = document.documentElement.scrollWidth;
    for (const element of document.querySelectorAll("body *")) {
      if (element.closest("svg, .scroll, figure, script, pre")) continue;
      const at = element.getBoundingClientRect();
      if (at.width > 0 && (at.right > room + 1 || element.scrollWidth > element.clientWidth + 1) &&
          getComputedStyle(element).display !== "inline" && element.clientWidth > 0)
        seen.overflows.push(element.tagName + ": " + element.textContent.slice(0, 60));
    }
  }

  const luminance = (colour) => {
    const parts = colour.match(/[\d.]+/g).slice(0, 3).map((c) => {
      const part = Number(c) / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };

  const contrast = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };

  /* The least contrast (WCAG 2) of any class of text on any fill that carries text. */
  function measureContrast() {
    const svg = document.querySelector("svg.tcgemm");
    const paint = (name, classes) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", name);
      element.setAttribute("class", classes);
      svg.append(element);
      const fill = getComputedStyle(element).fill;
      element.remove();
      return fill;
    };
    const plain = ["paper", "box"];
    const coloured = ["a", "b", "d", "d2", "r0", "r1", "r2", "r3", "r4", "r5"];
    seen.contrast = {};
    for (const font of ["t", "l", "n", "s", "g"])
      for (const fill of "ns".includes(font) ? plain : plain.concat(coloured))
        seen.contrast[font + " on " + fill] = contrast(paint("text", font), paint("rect", fill));
    const body = getComputedStyle(document.body);
    seen.contrast.body = contrast(body.color, body.backgroundColor);
    seen.dark = luminance(body.backgroundColor) < 0.2;
  }

  /* Where the window has no focus, elements get it silently. */
  if (!document.hasFocus()) {
    const focus = SVGElement.prototype.focus;
    SVGElement.prototype.focus = function () {
      focus.call(this);
      this.dispatchEvent(new FocusEvent("focus"));
    };
  }

  try {
    seen.walkable = document.getElementById("explore") !== null;
    measureTexts();
    measurePage();
    measureContrast();
    if (seen.walkable) {
      workTiles();
      workSteps();
      measureTexts();
    }
    seen.resources = performance.getEntriesByType("resource").map((entry) => entry.name);
  } catch (error) {
    seen.errors.push(String(error.stack || error));
  }
  const report = document.createElement("pre");
  report.id = "observed";
  report.textContent = JSON.stringify(seen);
  document.body.append(report);
})();
