// Above the tabs of the ways: a button that shows two ways next to each other, line by line, with marks where they differ.
document.addEventListener("DOMContentLoaded", () => {
  const KEY = "fourways-side-by-side";
  const choice = { on: false, ways: ["nvrtc", "pybind11"] };
  try {
    Object.assign(choice, JSON.parse(localStorage.getItem(KEY)));
  } catch {} // a browser may refuse to store

  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  const gap = () => element("span", { className: "gap" });

  // The lines of a way's code, each a fragment with the colours of its syntax.
  const lines = (content) =>
    [...content.querySelectorAll("pre")].flatMap((pre) => {
      if (pre.closest(".cell_output")) return [];
      const texts = document.createTreeWalker(pre, NodeFilter.SHOW_TEXT);
      const made = [];
      const range = new Range();
      range.setStart(pre, 0);
      while (texts.nextNode()) {
        const text = texts.currentNode;
        for (let end = text.data.indexOf("\n"); end >= 0; end = text.data.indexOf("\n", end + 1)) {
          range.setEnd(text, end);
          made.push(range.cloneContents());
          range.setStart(text, end + 1);
        }
      }
      return made;
    });

  // Rows of two lines, null for none. Lines that agree but for the way's name share a row (the longest common
  // subsequence). Between such rows, others are paired from the last one on, because code begins with what is special.
  const align = (sides, ways) => {
    const [a, b] = sides.map((lines, side) => lines.map((line) => line.textContent.replaceAll(ways[side], "")));
    const longest = Array.from({ length: a.length + 1 }, () => Array(b.length + 1).fill(0));
    for (let i = 1; i <= a.length; i++)
      for (let j = 1; j <= b.length; j++)
        longest[i][j] =
          a[i - 1] === b[j - 1] ? longest[i - 1][j - 1] + 1 : Math.max(longest[i - 1][j], longest[i][j - 1]);
    const rows = [];
    let [i, j] = [a.length, b.length];
    let others = [[], []];
    const pair = () => {
      for (let row = 0; row < Math.max(others[0].length, others[1].length); row++)
        rows.push(others.map((lines) => lines[row] ?? null));
      others = [[], []];
    };
    while (i || j) {
      if (i && j && a[i - 1] === b[j - 1]) {
        pair();
        rows.push([sides[0][--i], sides[1][--j]]);
      } else if (!j || (i && longest[i - 1][j] >= longest[i][j - 1])) others[0].push(sides[0][--i]);
      else others[1].push(sides[1][--j]);
    }
    pair();
    return rows.reverse();
  };

  const renderers = [];
  const change = (changed) => {
    Object.assign(choice, changed);
    try {
      localStorage.setItem(KEY, JSON.stringify(choice));
    } catch {}
    for (const render of renderers) render();
  };

  for (const tabs of document.querySelectorAll(".ways")) {
    const labels = new Map(
      [...tabs.querySelectorAll(":scope > .sd-tab-label")].map((label) => [label.dataset.syncId, label]),
    );
    const button = element("button", { type: "button", textContent: "Side by side" });
    const name = (way) => labels.get(way).textContent.trim();
    let ways;
    const selects = ["First", "Second"].map((which, side) => {
      const select = element("select", { ariaLabel: `${which} way` });
      select.append(...[...labels.keys()].map((way) => new Option(name(way), way)));
      select.addEventListener("change", () => {
        const other = ways[1 - side] === select.value ? ways[side] : ways[1 - side]; // the same way again: swap
        change({ ways: side ? [other, select.value] : [select.value, other] });
      });
      return select;
    });
    const differ = element("span", { role: "status" });
    const chosen = element("span", {}, ...selects, differ);
    const code = element("div", { className: "two-ways highlight" });
    button.addEventListener("click", () => change({ on: !choice.on }));
    tabs.before(element("div", { className: "side-by-side" }, button, chosen), code);

    const render = () => {
      button.setAttribute("aria-pressed", choice.on);
      chosen.hidden = code.hidden = !choice.on;
      tabs.hidden = choice.on;
      if (!choice.on) return;
      // A page without a chosen way shows another, and keeps the choice for the next page.
      ways = choice.ways.map((way) => (labels.has(way) ? way : undefined));
      for (const side of [0, 1]) ways[side] ??= [...labels.keys()].find((way) => !ways.includes(way));
      selects.forEach((select, side) => (select.value = ways[side]));
      const sides = ways.map((way) => lines(labels.get(way).nextElementSibling));
      const rows = align(sides, ways);
      const marked = [0, 0];
      const columns = ways.map((way, side) => {
        const column = element("pre", { tabIndex: 0, role: "region", ariaLabel: name(way), className: `way-${way}` });
        for (const row of rows) {
          const differs = row[side]?.textContent.trim() && row[0]?.textContent !== row[1]?.textContent;
          marked[side] += Boolean(differs);
          column.append(row[side] ? element(differs ? "mark" : "span", {}, row[side].cloneNode(true), "\n") : gap());
        }
        return column;
      });
      code.style.setProperty("--rows", rows.length + 1); // and the names
      code.replaceChildren(...columns);
      const counts = ways.map((way, side) => `${marked[side]} of ${sides[side].length} in ${name(way)}`);
      differ.textContent = `Lines that differ: ${counts.join(", ")}.`;
    };
    renderers.push(render);
    render();
  }

  // An address may lead into a tab. The page then shows its tabs; the choice is kept for other pages.
  const follow = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (!choice.on || !target?.closest(".ways")) return;
    choice.on = false;
    for (const render of renderers) render();
    target.scrollIntoView();
  };
  follow();
  addEventListener("hashchange", follow);
});
