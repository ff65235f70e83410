"use strict";
// A click on a title sorts by that column, largest value first; another click reverses it. Changes sort by size.
for (const table of document.querySelectorAll("table.sorts")) {
  const body = table.tBodies[0];
  const titles = [...table.tHead.rows[1].cells];
  titles.forEach((title, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = title.textContent;
    title.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = title.getAttribute("aria-sort") !== "descending";
      for (const other of titles) other.removeAttribute("aria-sort");
      title.setAttribute("aria-sort", down ? "descending" : "ascending");
      const isChange = column % 3 === 0;
      const number = (row) => {
        const n = Number(row.cells[column].dataset.n);
        return isChange ? Math.abs(n) : n;
      };
      const name = (a, b) => a.cells[0].textContent.localeCompare(b.cells[0].textContent);
      const order = column === 0 ? (a, b) => name(b, a) : (a, b) => number(b) - number(a) || name(a, b);
      const rows = [...body.rows].sort((a, b) => (down ? order(a, b) : order(b, a)));
      body.append(...rows);
    });
  });
}
