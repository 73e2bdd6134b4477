// Lesson 14: what does a program cost in each way? The same model as `fourways choose`, for the reader's numbers.
//
// The build of the book writes program_costs.js from the recorded results: `programCosts` with the `costs` of each way,
// in seconds, their `origin`, and `small`, the seconds a day that do not matter.

// Return a row for each way, the least total first. `asked` holds kernel (seconds), launches, runs, cold, edits, nodes.
function choose(costs, { kernel, launches, runs, cold, edits, nodes }) {
  const rows = costs.map((cost) => {
    const parts = (start, launch) => ({
      starts: nodes * runs * start,
      launches: nodes * runs * launches * Math.max(launch, kernel),
      "cold caches": nodes * cold * cost.cold,
      edits: edits * cost.edit,
    });
    const sum = (each) => Object.values(each).reduce((total, part) => total + part, 0);
    const middle = parts(cost.start, cost.launch);
    const [low, high] = [parts(cost.low, cost.launch_low), parts(cost.high, cost.launch_high)].map(sum);
    return { way: cost.way, parts: middle, total: sum(middle), low, high };
  });
  rows.sort((one, other) => one.total - other.total);
  const near = rows.filter((row) => row.low <= rows[0].high);
  for (const row of rows)
    if (near.includes(row)) row.verdict = near.length > 1 ? "no difference" : "fastest";
    else row.verdict = `× ${(row.total / rows[0].total).toFixed(2)}`;
  return rows;
}

// Three digits in the first unit that gives at least 1 after rounding.
function seconds(value) {
  if (value === 0) return "0";
  const units = { s: 1, ms: 1e-3, "µs": 1e-6, ns: 1e-9 };
  const unit = Object.keys(units).find((each) => Number((value / units[each]).toPrecision(3)) >= 1) ?? "ns";
  const digits = { minimumSignificantDigits: 3, maximumSignificantDigits: 3 };
  return `${(value / units[unit]).toLocaleString("en", digits)} ${unit}`;
}

// Name, label, least value and first value of each number. A kernel's time is asked for in µs.
const NUMBERS = [
  ["kernel", "The kernel takes, in µs", 0.001, 30],
  ["launches", "Launches in a run", 0, 200],
  ["runs", "Runs a day", 1, 100],
  ["cold", "Of them with empty caches", 0, 0],
  ["edits", "Edits of the kernel a day", 0, 0],
  ["nodes", "Machines", 1, 1],
];
const PROGRAMS = {
  "a tool": [30, 200, 100, 0, 0, 1],
  "a night on 64 machines": [30, 200, 1, 1, 0, 64],
  "an edit a minute": [1000, 100, 1, 0, 480, 1],
  "10,000 launches a second": [2, 864000000, 1, 0, 0, 1],
};

function bar(row, most) {
  let x = 0;
  const rects = Object.values(row.parts).map((part, number) => {
    const width = (100 * part) / most;
    x += width;
    return element("rect", { class: `part${number}`, x: x - width, y: 0, width, height: 6 }, [], true);
  });
  const [low, high] = [row.low, row.high].map((total) => (100 * total) / most);
  rects.push(element("path", { d: `M${low} 3H${high}M${low} 1V5M${high} 1V5` }, [], true));
  return element("svg", { viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" }, rects, true);
}

function exploreProgram(box) {
  const form = element("form", {}, [
    element("fieldset", {}, [
      element("legend", {}, ["Programs"]),
      ...Object.keys(PROGRAMS).map((name) => element("button", { type: "button", name }, [name])),
    ]),
    ...NUMBERS.map(([name, label, min, value]) => {
      const step = name === "kernel" ? "any" : 1;
      const input = element("input", { type: "number", name, min, value, step, required: "" });
      return element("label", {}, [element("span", {}, [label]), input]);
    }),
  ]);
  const status = element("p", { role: "status" });
  const results = element("div", {});
  const key = element("p", { class: "key" });
  const parts = ["starts", "launches", "cold caches", "edits"];
  for (const [number, part] of parts.entries()) key.append(element("span", { class: `part${number}` }, [part]), " ");
  key.append(`· The line reaches from the 10th to the 90th percentile. Measured on ${programCosts.origin}.`);
  box.classList.add("explorable");
  box.append(form, status, results, key);

  const update = () => {
    form.elements.cold.max = form.elements.runs.value;
    const wrong = [...form.elements].find((field) => field.validationMessage);
    if (wrong) {
      status.textContent = `${wrong.labels[0].textContent}: ${wrong.validationMessage}`;
      return results.replaceChildren();
    }
    const asked = Object.fromEntries(NUMBERS.map(([name]) => [name, form.elements[name].valueAsNumber]));
    asked.kernel *= 1e-6;
    const rows = choose(programCosts.costs, asked);
    const apart = rows.at(-1).total - rows[0].total;
    status.textContent =
      `The slowest way takes ${seconds(apart)} a day more than the fastest.` +
      (apart < programCosts.small ? ` Below ${programCosts.small} s a day the time does not matter.` : "");
    const most = Math.max(...rows.map((row) => row.high));
    results.replaceChildren(
      ...rows.map((row) => {
        const spent = parts.filter((part) => row.parts[part]).map((part) => `${part} ${seconds(row.parts[part])}`);
        const title = element("strong", {}, [`${row.way}: ${seconds(row.total)}, ${row.verdict}`]);
        const range = `${spent.join(" · ")} · p10 to p90: ${seconds(row.low)} to ${seconds(row.high)}`;
        return element("div", { class: "way" }, [title, bar(row, most), element("small", {}, [range])]);
      }),
    );
  };
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("click", (event) => {
    const program = PROGRAMS[event.target.name];
    if (!program) return;
    for (const [number, [name]] of NUMBERS.entries()) form.elements[name].value = program[number];
    update();
  });
  update();
}

document.addEventListener("DOMContentLoaded", () => {
  const box = document.querySelector(".program-time");
  if (box && programCosts.costs.length) exploreProgram(box);
});
