// Lesson 04: which addresses does a warp access? The reader chooses tile, padding and block, the page runs the lesson's
// kernel, draws the floats that the first warp accesses, and counts sectors and bank conflicts.
//
// transpose_wasm.js holds the kernel, compiled to WebAssembly for each tile and padding.
const SIDE = 64; // of the matrix
const LANES = 32;
const BANKS = 32;
const SECTOR = 8; // floats
const ROWS = 8; // of a block
const MOST = 512; // `most_accesses` of cpp/wasm/cuda_in_wasm.hpp

// Run the kernel with blocks of `columns` x 8 threads. Return whether it was right, its answer `b`, and `steps`: the
// warp's first access of each kind. A step has the `array` ("a", "b" or "tile"), whether it `writes`, and by lane the
// position of the float, counted from the array's first.
function recordWarp(tile, pad, columns, height = SIDE, width = SIDE) {
  const bytes = Uint8Array.from(atob(transposeModules[`${tile},${pad}`]), (letter) => letter.charCodeAt(0));
  const kernel = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;
  const a = new Float32Array(kernel.memory.buffer, kernel.a.value, height * width).map((_, i) => i);
  new Float32Array(kernel.memory.buffer, kernel.a.value, a.length).set(a);
  kernel.run(height, width, columns, ROWS);
  const b = [...new Float32Array(kernel.memory.buffer, kernel.b.value, a.length)];
  const right = b.every((value, i) => value === a[(i % height) * width + Math.floor(i / height)]);

  const count = new Uint32Array(kernel.memory.buffer, kernel.access_count.value)[0];
  const accesses = new Uint32Array(kernel.memory.buffer, kernel.accesses.value);
  const arrayOf = (address) =>
    ["a", "b"].find((name) => address >= kernel[name].value && address < kernel[name].value + 4 * SIDE * SIDE) ?? "tile";
  const steps = new Map();
  for (let number = 0; number < count; number++) {
    // All lanes take the same path through the kernel, so the accesses with one number are those of one instruction.
    const addresses = Array.from({ length: LANES }, (_, lane) => accesses[lane * MOST + number]);
    const array = arrayOf(addresses[0]);
    const writes = addresses[0] % 2 === 1;
    if (!steps.has(array + writes)) steps.set(array + writes, { array, writes, addresses });
  }
  const tileBegins = steps.get("tiletrue")?.addresses[0]; // lane 0 writes the tile's first float
  for (const step of steps.values()) {
    const begins = step.array === "tile" ? tileBegins - 1 : kernel[step.array].value;
    step.floats = step.addresses.map((address) => (address - step.writes - begins) / 4);
  }
  return { right, b, steps: [...steps.values()] };
}

// The different floats that a warp wants of each bank.
function byBank(floats) {
  const banks = Array.from({ length: BANKS }, () => []);
  for (const float of new Set(floats)) banks[float % BANKS].push(float);
  return banks;
}
const turns = (floats) => Math.max(...byBank(floats).map((wanted) => wanted.length));
const sectors = (floats) => new Set(floats.map((float) => Math.floor(float / SECTOR))).size;

const countOf = (step) => {
  const [number, unit] = step.array === "tile" ? [turns(step.floats), "turn"] : [sectors(step.floats), "sector"];
  return `${number} ${unit}${number === 1 ? "" : "s"}`;
};

// An element with attributes and children, in HTML or (where `svg` says so) in SVG.
function element(name, attributes = {}, children = [], svg = false) {
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// One step: the memory in rows of 32 floats, which are 4 sectors or the 32 banks, and in it the floats of the warp.
function drawing(step, chosenLane) {
  const isTile = step.array === "tile";
  const stride = isTile ? BANKS : SIDE;
  const rows = Math.max(LANES, Math.floor(Math.max(...step.floats) / stride) + 1);
  const [width, height] = [9, (LANES * 9) / rows];
  const rect = (kind, float, floats) => {
    const place = { x: (float % stride) * width, y: Math.floor(float / stride) * height };
    return element("rect", { class: kind, ...place, width: floats * width, height }, [], true);
  };
  const ground = [];
  if (isTile)
    for (let bank = 0; bank < BANKS; bank++)
      ground.push(element("rect", { x: bank * width, y: 0, width, height: LANES * 9, class: "memory" }, [], true));
  else {
    const touched = new Set(step.floats.map((float) => Math.floor(float / SECTOR)));
    for (let row = 0; row < rows; row++)
      for (let sector = row * (SIDE / SECTOR); sector < row * (SIDE / SECTOR) + LANES / SECTOR; sector++)
        ground.push(rect(touched.has(sector) ? "touched" : "memory", sector * SECTOR, SECTOR));
  }
  const banks = byBank(step.floats);
  const floats = step.floats.map((float) =>
    rect(isTile && banks[float % BANKS].length > 1 ? "conflict" : "float", float, 1),
  );
  floats.push(rect("lane", step.floats[chosenLane], 1));
  const title = `${step.writes ? "Writes" : "Reads"} ${step.array}: ${countOf(step)}`;
  const size = { viewBox: `-1 -1 ${LANES * 9 + 2} ${LANES * 9 + 2}`, role: "img", "aria-label": title };
  return { title, svg: element("svg", size, [...ground, ...floats], true) };
}

function laneText(step, lane, tile, pad) {
  const float = step.floats[lane];
  const width = step.array === "tile" ? tile + pad : SIDE;
  const place = `${step.array}[${Math.floor(float / width)}][${float % width}]`;
  if (step.array !== "tile") return `${place}, sector ${Math.floor(float / SECTOR)}`;
  return `${place}, bank ${float % BANKS}, turn ${byBank(step.floats)[float % BANKS].indexOf(float) + 1}`;
}

function explore(figure) {
  const choices = (name, legend, labels, chosen) =>
    element("fieldset", {}, [
      element("legend", {}, [legend]),
      ...Object.entries(labels).map(([value, label]) => {
        const checked = value === chosen ? { checked: "" } : {};
        return element("label", {}, [element("input", { type: "radio", name, value, ...checked }), label]);
      }),
    ]);
  const lane = element("input", { type: "range", name: "lane", "aria-label": "Thread", min: 0, max: LANES - 1, value: 1 });
  const laneName = element("output", {});
  const form = element("form", {}, [
    choices("tile", "TILE", { 0: "no tile", 16: "16", 32: "32", 64: "64" }, "32"),
    choices("pad", "PAD", { 0: "0", 1: "1", 2: "2", 4: "4" }, "0"),
    choices("columns", "Threads of a block", { 32: "32 × 8", 16: "16 × 8", 8: "8 × 8", 4: "4 × 8" }, "32"),
    element("fieldset", {}, [element("label", {}, [laneName, lane])]),
  ]);
  const panels = element("div", { class: "panels" });
  const summary = element("p", { role: "status" });
  const title = element("p", { class: "admonition-title" }, ["Try it: what does the first warp access?"]);
  const intro = element("p", {}, [
    "This page runs the lesson's complete kernel, transpose.cuh, compiled to WebAssembly. " +
      "Choose its macros and its block. The slider picks a thread of the warp.",
  ]);
  const key = element("p", { class: "key" }, [
    "Rows of a and b are drawn in sectors of 8 floats, the tile in rows of 32 banks. Floats in one column of the tile " +
      "lie in one bank: the warp gets one of them a turn. TILE must be a multiple of the block's width.",
  ]);
  figure.after(element("div", { class: "admonition explorable" }, [title, intro, form, summary, panels, key]));

  const update = () => {
    const number = (name) => Number(form.elements[name].value);
    const tile = number("tile");
    for (const button of form.querySelectorAll("input[type=radio]"))
      button.disabled = button.name === "pad" ? !tile : button.name === "columns" && tile % button.value !== 0;
    if (form.querySelector("[name=columns]:checked:disabled"))
      [...form.querySelectorAll("[name=columns]:enabled")].at(-1).checked = true;
    const pad = tile ? number("pad") : 0;
    const { right, steps } = recordWarp(tile, pad, number("columns"));
    const of = (array) => steps.filter((step) => (step.array === "tile") === (array === "tile"));
    const sum = (array, count) => of(array).reduce((total, step) => total + count(step.floats), 0);
    summary.textContent =
      `Global memory: ${sum("global", sectors)} sectors; a copy touches ${(2 * LANES) / SECTOR}. ` +
      (tile ? `Shared memory: ${sum("tile", turns)} turns; without conflicts ${of("tile").length}. ` : "") +
      `The kernel's answer is ${right ? "right" : "wrong"}.`;
    laneName.value = `Thread ${lane.value}`;
    panels.replaceChildren(
      ...steps.map((step) => {
        const { title, svg } = drawing(step, Number(lane.value));
        const text = laneText(step, Number(lane.value), tile, pad);
        return element("figure", {}, [element("figcaption", {}, [title]), svg, element("small", {}, [text])]);
      }),
    );
  };
  form.addEventListener("input", update);
  update();
}

document.addEventListener("DOMContentLoaded", () => {
  const figures = document.querySelectorAll(".access-pattern"); // one for a light page, one for a dark one
  if (figures.length && globalThis.WebAssembly) explore(figures[figures.length - 1]);
});
