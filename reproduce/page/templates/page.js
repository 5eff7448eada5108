"use strict";
document.documentElement.classList.add("js");

// Tables: a heading sorts, and again the other way round. Cells without a value stay at the end.
const orderOf = (row, index) => row.cells[index].dataset.order ?? row.cells[index].textContent.trim();
function sortBy(heading) {
  const index = heading.cellIndex, body = heading.closest("table").tBodies[0], rows = [...body.rows];
  const keys = new Map(rows.map(row => [row, orderOf(row, index)]));
  const filled = rows.filter(row => keys.get(row) !== ""), empty = rows.filter(row => keys.get(row) === "");
  const areNumbers = filled.every(row => !Number.isNaN(Number(keys.get(row))));
  // Of numbers the largest come first, of words the first.
  const isDown = heading.ariaSort ? heading.ariaSort === "ascending" : areNumbers;
  filled.sort((one, other) => (isDown ? -1 : 1) * (areNumbers ? keys.get(one) - keys.get(other)
    : keys.get(one).localeCompare(keys.get(other), "en", {numeric: true})));
  for (const each of heading.parentElement.cells) each.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", isDown ? "descending" : "ascending");
  body.append(...filled, ...empty);
}
for (const heading of document.querySelectorAll("table.sortable th")) {
  heading.querySelector("button").addEventListener("click", () => sortBy(heading));
}

// Claims: those with one verdict, or all.
for (const button of document.querySelectorAll("#claims .filters button")) {
  button.addEventListener("click", () => {
    const wanted = button.dataset.verdict, rows = [...document.querySelectorAll("table.claims tbody tr")];
    for (const row of rows) row.hidden = wanted !== "" && row.dataset.verdict !== wanted;
    for (const each of button.parentElement.children) each.setAttribute("aria-pressed", String(each === button));
    document.querySelector("#claims .shown").textContent =
      `${rows.filter(row => !row.hidden).length} of ${rows.length} claims are shown.`;
  });
}

// Pictures: as wide as the page, or large in a box that scrolls.
for (const button of document.querySelectorAll(".zoom")) {
  button.addEventListener("click", () =>
    button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true")));
}

// Figure 2: the nearest point tells what it is; by keys one goes along a method (← →) or to another (↑ ↓).
const visible = plot => [...plot.querySelectorAll(".series:not(.off) .point")];
function centre(point) {
  const box = point.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
}
function hush(plot) {
  plot.querySelector(".tip").hidden = true;
  plot.querySelector(".told")?.classList.remove("told");
}
function tell(plot, point) {
  hush(plot);
  point.classList.add("told");
  const tip = plot.querySelector(".tip"), [name, ...rest] = point.getAttribute("aria-label").split(": ");
  const bold = document.createElement("b");
  bold.textContent = name;
  tip.replaceChildren(bold, rest.join(": "));
  tip.hidden = false;
  const frame = plot.getBoundingClientRect(), [x, y] = centre(point).map((at, i) => at - (i ? frame.y : frame.x));
  tip.style.left = `${Math.max(0, Math.min(frame.width - tip.offsetWidth, x - tip.offsetWidth / 2))}px`;
  tip.style.top = `${y > tip.offsetHeight + 14 ? y - tip.offsetHeight - 12 : y + 14}px`;
}
function nearest(plot, event) {
  let found = null, least = 28;  // pixels: a finger's width
  for (const point of visible(plot)) {
    const [x, y] = centre(point), distance = Math.hypot(x - event.clientX, y - event.clientY);
    if (distance < least) [found, least] = [point, distance];
  }
  return found;
}
function step(plot, point, key) {
  const series = [...plot.querySelectorAll(".series:not(.off)")].filter(each => each.querySelector(".point"));
  const own = point.closest(".series"), points = [...own.querySelectorAll(".point")], at = points.indexOf(point);
  if (key === "ArrowRight" || key === "ArrowLeft") {
    return points.at((at + (key === "ArrowRight" ? 1 : -1)) % points.length);
  }
  const next = series.at((series.indexOf(own) + (key === "ArrowDown" ? 1 : -1)) % series.length);
  const there = [...next.querySelectorAll(".point")];
  return there[Math.min(at, there.length - 1)];
}
for (const plot of document.querySelectorAll(".plot")) {
  const svg = plot.querySelector("svg");
  const touch = event => {
    const point = nearest(plot, event);
    if (point) tell(plot, point); else hush(plot);
  };
  svg.addEventListener("pointermove", touch);
  svg.addEventListener("pointerdown", touch);
  svg.addEventListener("pointerleave", event => { if (event.pointerType === "mouse") hush(plot); });
  svg.addEventListener("focusin", event => tell(plot, event.target));
  svg.addEventListener("focusout", () => hush(plot));
  svg.addEventListener("keydown", event => {
    if (event.key === "Escape") hush(plot);
    if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    step(plot, event.target, event.key).focus();
  });
}
// Of each plot one point is a stop of Tab: of the first method that is shown.
function setStops() {
  for (const plot of document.querySelectorAll(".plot")) {
    for (const point of plot.querySelectorAll(".point")) point.setAttribute("tabindex", "-1");
    visible(plot)[0]?.setAttribute("tabindex", "0");
  }
}
for (const button of document.querySelectorAll(".methods button")) {
  button.addEventListener("click", () => {
    const isShown = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(isShown));
    for (const series of document.querySelectorAll("g[data-series]")) {
      if (series.dataset.series === button.dataset.series) series.classList.toggle("off", !isShown);
    }
    setStops();
  });
}
setStops();

// The field: the ranking of one stream, notion and gap. Accuracy is a number, and a line between the ends of the table.
function fillRanking(section) {
  const data = JSON.parse(section.querySelector("#field-data").textContent), table = section.querySelector(".ranking");
  const picked = [...section.querySelectorAll("[data-pick]")].map(each => each.value);
  const rows = data.rows.filter(row => row[0] === picked.join("|"));
  const ends = rows.flatMap(row => [row[2], row[3], row[4]]).filter(value => value !== null);
  const low = Math.min(...ends) - 0.1, span = Math.max(...ends) + 0.1 - low, across = at => 100 * (at - low) / span;
  const make = (name, text, css) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (css) made.className = css;
    return made;
  };
  const shown = (value, digits) => value === null ? "–"
    : value.toLocaleString("en", {minimumFractionDigits: digits, maximumFractionDigits: digits});
  function accuracy(row) {
    const cell = make("td"), strip = make("span", "", "strip"), line = make("i"), dot = make("b");
    cell.append(make("b", shown(row[2], 2)));
    if (row[3] !== null) {
      cell.append(" ", make("small", `${shown(row[3], 2)} to ${shown(row[4], 2)}`));
      line.style.left = `${across(row[3])}%`;
      line.style.width = `${across(row[4]) - across(row[3])}%`;
    }
    dot.style.left = `${across(row[2])}%`;
    strip.ariaHidden = "true";
    strip.append(line, dot);
    cell.append(strip);
    return cell;
  }
  const body = table.tBodies[0];
  body.replaceChildren();
  data.classes.forEach((title, needed) => {
    const own = rows.filter(row => data.methods[row[1]][1] === needed);
    if (!own.length) return;
    const heading = make("th", title, "class");
    heading.colSpan = 9;
    heading.scope = "rowgroup";
    body.append(make("tr"));
    body.lastChild.append(heading);
    let rank = 0;
    for (const row of own) {
      const line = make("tr", undefined, row[11] ? "" : "missed");
      rank += row[11];
      line.append(make("td", row[11] ? `${rank}${row[12] && rank > 1 ? "=" : ""}` : "–"),
        make("td", data.methods[row[1]][0], "name"), accuracy(row),
        ...[[5, 3], [6, 3], [7, 3]].map(([at, digits]) => make("td", shown(row[at], digits), "number")),
        make("td", row[8] === null ? "" : `${row[8] > 0 ? "+" : ""}${shown(row[8], 2)}`, "number"),
        make("td", shown(row[9], 0), "number"), make("td", shown(row[10], 1), "number"));
      body.append(line);
    }
  });
  const kept = rows.filter(row => row[11]).length;
  table.caption.textContent = `${picked[0]}, ${picked[1]} at most ${picked[2]}: ${kept} of ${rows.length} methods keep it.`;
}
for (const section of document.querySelectorAll("#field")) {
  if (!section.querySelector("#field-data")) continue;
  for (const each of section.querySelectorAll("[data-pick]")) each.addEventListener("change", () => fillRanking(section));
  fillRanking(section);
}
