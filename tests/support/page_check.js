// Appended to a copy of results/index.html by tests/reproduce/test_report.py: looks at the page as it is drawn, uses
// it, and writes what it found into the page around it. All at once: what waits might come after the browser left.
"use strict";
addEventListener("load", () => {
  const found = {}, all = what => [...document.querySelectorAll(what)];
  try {
    found.innerWidth = innerWidth;
    found.scrollWidth = document.documentElement.scrollWidth;
    found.images = all("img").length;
    found.brokenImages = all("img").filter(image => !image.complete || image.naturalWidth === 0).length;

    const table = document.querySelector("table.sortable"), heading = table.tHead.rows[0].cells[1];
    const numbers = () => [...table.tBodies[0].rows].map(row => Number(row.cells[1].dataset.order));
    found.sorted = {};
    for (let click = 0; click < 2; click++) {
      heading.querySelector("button").click();
      found.sorted[heading.getAttribute("aria-sort")] = numbers();
    }

    const point = document.querySelector(".point[tabindex='0']"), plot = point.closest(".plot");
    const tip = plot.querySelector(".tip"), box = point.getBoundingClientRect();
    const at = {clientX: box.x + box.width / 2, clientY: box.y + box.height / 2, bubbles: true, pointerType: "touch"};
    point.dispatchEvent(new PointerEvent("pointerdown", at));
    found.touched = tip.hidden ? null : tip.textContent;
    point.focus();
    found.focused = tip.hidden ? null : tip.textContent;
    point.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true}));
    found.next = tip.textContent;
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", bubbles: true}));
    found.hushed = tip.hidden;
    const method = document.querySelector(".methods button"), ofMethod = () => all(".series.off").length;
    method.click();
    found.hiddenSeries = ofMethod();
    method.click();
    found.hiddenSeriesAfter = ofMethod();

    const isSeen = row => row.checkVisibility();
    const rows = () => all("table.claims tbody tr").filter(isSeen).map(row => row.dataset.verdict);
    document.querySelector("#claims button[data-verdict='holds']").click();
    found.held = rows();
    document.querySelector("#claims button[data-verdict='']").click();
    found.claims = rows().length;

    const ranked = () => [document.querySelector(".ranking caption").textContent, ...all(".ranking tbody tr").map(
      row => [...row.cells].slice(0, 2).map(cell => cell.textContent).join(" "))];
    const target = document.querySelector("[data-pick='target']"), atFirst = ranked();
    target.value = "0.1";
    target.dispatchEvent(new Event("change"));
    found.field = [atFirst, ranked()];

    for (const details of all("details")) details.open = true;
    for (const button of all(".zoom")) button.click();
    found.scrollWidthOpened = document.documentElement.scrollWidth;
  } catch (error) {
    found.error = String(error.stack ?? error);
  }
  const told = parent.document.createElement("pre");
  told.textContent = JSON.stringify(found);
  parent.document.body.append(told);
});
