// Tables of a page can be sorted by a column and filtered by a word. A feature and its levels stay together.
"use strict";

const DECIMAL = (1.5).toLocaleString(document.documentElement.lang)[1]; // "," on a German page
const LEVEL = "\u2003"; // how the label of a level begins

// What a column is sorted by: "1,042 (34.3%)" by 1042, "<0.001" by a little less, and a text by its letters.
function keyOf(row, place) {
  const text = (row.cells[place]?.textContent ?? "").trim().replace("\u2212", "-");
  const plain = text.replace(/(?<=\d)\s(?=\d)/g, "").replaceAll(DECIMAL === "," ? "." : ",", "").replace(DECIMAL, ".");
  const number = parseFloat(plain.replace(/^[<>]/, ""));
  if (Number.isNaN(number)) return text;
  return text.startsWith("<") ? number * (1 - 1e-9) : text.startsWith(">") ? number * (1 + 1e-9) : number;
}

function compare(first, second) {
  const isEmpty = [first, second].map((key) => key === "" || key === "\u2013");
  if (isEmpty[0] || isEmpty[1]) return isEmpty[0] - isEmpty[1];
  if (typeof first === typeof second && typeof first === "number") return first - second;
  return String(first).localeCompare(String(second));
}

function serve(table) {
  const bodies = [...table.tBodies];
  const before = bodies.map((body) => [...body.rows]);
  const rows = before.flat();
  const isBand = (row) => row.cells.length === 1 && row.cells[0].colSpan > 1;
  const bands = rows.filter(isBand);
  const groups = [];
  for (const row of rows.filter((row) => !isBand(row))) {
    if (row.cells[0].textContent.startsWith(LEVEL) && groups.length) groups.at(-1).push(row);
    else groups.push([row]);
  }

  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = field.ariaLabel = table.closest("main").dataset.filter;
  table.closest(".scroll").before(field);
  const heads = [...table.tHead.rows].at(-1).cells;
  let sorted = null;

  function show() {
    const word = field.value.toLowerCase();
    for (const group of groups) {
      const isShown = group.some((row) => row.textContent.toLowerCase().includes(word));
      for (const row of group) row.hidden = !isShown;
    }
    for (const band of bands) band.hidden = sorted !== null || word !== "";
  }

  function sort(place) {
    const was = heads[place].ariaSort;
    for (const head of heads) head.ariaSort = null;
    sorted = was === "descending" ? null : place;
    if (sorted === null) before.forEach((of, number) => bodies[number].append(...of));
    else {
      const sign = was === "ascending" ? -1 : 1;
      heads[place].ariaSort = sign > 0 ? "ascending" : "descending";
      const keyed = groups.map((group) => [keyOf(group[0], place), group]);
      keyed.sort(([first], [second]) => {
        const isEmpty = first === "" || second === "";
        return compare(first, second) * (isEmpty ? 1 : sign);
      });
      bodies[0].append(...keyed.flatMap(([, group]) => group));
    }
    show();
  }

  field.addEventListener("input", show);
  [...heads].forEach((head, place) => {
    head.tabIndex = 0;
    head.addEventListener("click", () => sort(place));
    head.addEventListener("keydown", (event) => event.key === "Enter" && sort(place));
  });
}

for (const table of document.querySelectorAll("section:not(#overview, #methods) table")) {
  if (table.rows.length > 8) serve(table);
}
