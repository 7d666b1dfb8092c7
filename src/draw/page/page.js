/* Tiles and steps of the page of `tcgemm explain --html`. The tool drew the tiles of D, the bands of
 * A and B beside them, and what each tile is (data attributes); this lights them up. */
"use strict";
(function () {
  const explore = document.getElementById("explore");
  if (!explore || !explore.dataset.steps) return; // D has no elements, or there is no k to walk

  const facts = explore.dataset;
  const steps = Number(facts.steps);
  const stepK = Number(facts.stepK);
  const k = Number(facts.k);
  const stages = Number(facts.stages);
  const tiles = Array.from(explore.querySelectorAll(".tile"));
  const slider = document.getElementById("step");
  const slots = document.getElementById("slots");
  let chosen = tiles[0];
  let step = 0;
  let timer = 0;

  const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, " ");
  const span = (from, count) =>
    count === 1 ? grouped(from) : grouped(from) + " .. " + grouped(from + count - 1);
  const write = (id, text) => {
    document.getElementById(id).textContent = text;
  };

  /* The part of a band that the step covers: along x for A, along y for B. */
  function showChunks() {
    const a = explore.querySelector(".a.lit");
    const b = explore.querySelector(".b.lit");
    const from = (step * stepK) / k;
    const part = Math.min(stepK, k - step * stepK) / k;
    place(".chunk-a", a, from, part, "x", "width");
    place(".chunk-b", b, from, part, "y", "height");
  }

  function place(selector, band, from, part, start, length) {
    const chunk = explore.querySelector(selector);
    for (const name of ["x", "y", "width", "height"]) chunk.setAttribute(name, band.getAttribute(name));
    const size = Number(band.getAttribute(length));
    const shown = Math.min(size, Math.max(part * size, 3)); // never too thin to be seen
    const begin = Math.min(from * size, size - shown);
    chunk.setAttribute(start, Number(band.getAttribute(start)) + begin);
    chunk.setAttribute(length, shown);
  }

  /* What a slot of the ring holds while `step` is multiplied: step s lives in slot s % stages, and
   * copies run stages - 1 steps ahead. */
  function slotState(slot) {
    const ahead = (slot - (step % stages) + stages) % stages;
    const held = step + ahead;
    if (held >= steps) return { kind: "empty", text: "free" };
    if (ahead === 0) return { kind: "multiply", text: "step " + grouped(held) + " is multiplied" };
    return { kind: "copy", text: "step " + grouped(held) + " is on its way" };
  }

  function showSlots() {
    if (facts.mode !== "ring") return;
    Array.from(slots.children).forEach((item, slot) => {
      const state = slotState(slot);
      item.className = state.kind;
      item.lastElementChild.textContent = state.text;
    });
  }

  function showStep() {
    const from = step * stepK;
    slider.value = String(step);
    slider.setAttribute("aria-valuetext", "step " + step + " of " + steps);
    write(
      "where",
      "Step " + grouped(step) + " of 0 .. " + grouped(steps - 1) + ": k = " +
        span(from, Math.min(stepK, k - from)) + ".",
    );
    showChunks();
    showSlots();
  }

  function showTile() {
    const t = chosen.dataset;
    const rows = span(Number(t.m0), Number(t.m));
    const columns = span(Number(t.n0), Number(t.n));
    for (const old of explore.querySelectorAll(".lit")) old.classList.remove("lit");
    chosen.classList.add("lit");
    chosen.nextElementSibling.classList.add("lit");
    explore.querySelector('.a[data-row="' + t.row + '"]').classList.add("lit");
    explore.querySelector('.b[data-col="' + t.col + '"]').classList.add("lit");
    for (const tile of tiles) tile.setAttribute("tabindex", tile === chosen ? "0" : "-1");
    write(
      "which",
      "Tile " + grouped(Number(t.index)) + t.when + ": rows " + rows + " and columns " + columns +
        " of D. It reads rows " + rows + " of A and columns " + columns + " of B.",
    );
    showChunks();
  }

  function choose(tile) {
    if (!tile || tile === chosen) return;
    chosen = tile;
    showTile();
  }

  const tileAt = (row, col) =>
    tiles.find((tile) => tile.dataset.row === String(row) && tile.dataset.col === String(col));

  function moveFocus(event) {
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const move = moves[event.key];
    if (!move) return;
    const next = tileAt(Number(chosen.dataset.row) + move[0], Number(chosen.dataset.col) + move[1]);
    event.preventDefault();
    choose(next);
    if (next) next.focus();
  }

  function goTo(wanted) {
    step = Math.min(Math.max(wanted, 0), steps - 1);
    showStep();
  }

  function stop() {
    window.clearInterval(timer);
    timer = 0;
    write("play", "Play");
  }

  function play() {
    if (timer) return stop();
    write("play", "Stop");
    timer = window.setInterval(() => (step + 1 < steps ? goTo(step + 1) : stop()), 700);
    return undefined;
  }

  for (const tile of tiles) {
    tile.addEventListener("pointerenter", () => choose(tile));
    tile.addEventListener("click", () => choose(tile));
    tile.addEventListener("focus", () => choose(tile));
    tile.addEventListener("keydown", moveFocus);
  }
  slider.addEventListener("input", () => goTo(Number(slider.value)));
  document.getElementById("back").addEventListener("click", () => goTo(step - 1));
  document.getElementById("next").addEventListener("click", () => goTo(step + 1));
  document.getElementById("play").addEventListener("click", play);
  showTile();
  showStep();
})();
