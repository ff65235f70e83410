// A table of which only the visible rows are in the document.

const ROW_HEIGHT = 24;
// In narrow tables, rows have a bar below the text and are high enough for fingers.
const NARROW_ROW_HEIGHT = 36;
// Number of rows above and below the visible ones that are also in the document.
const SPARE_ROWS = 6;

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) {
    made.className = className;
  }
  if (text !== undefined) {
    made.textContent = text;
  }
  return made;
}

function option(value, text) {
  const made = element("option", "", text);
  made.value = value;
  return made;
}

// Head and body of a table. A cell is a text or an element.
function tableParts(titles, rows) {
  const line = (tag, cells) => {
    const made = element("tr");
    cells.forEach((cell) => {
      const place = element(tag);
      place.append(cell);
      made.append(place);
    });
    return made;
  };
  const [head, body] = [element("thead"), element("tbody")];
  head.append(line("th", titles));
  body.append(...rows.map((cells) => line("td", cells)));
  return [head, body];
}

// The first index at which `isBefore` is false. It must be true before and false from there on.
function firstIndex(length, isBefore) {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// `columns`: {id, title, explained, text}. The owner fills the elements of a row's columns, `cells`, in `fill(rowElement, cells,
// index)`.
class Grid extends Drawn {
  // `leaving`: columns that are left out if space is short, in this order.
  constructor(place, columns, leaving, owner) {
    super();
    this.place = place;
    this.columns = columns;
    this.leaving = leaving;
    this.owner = owner;
    this.rowHeight = ROW_HEIGHT;
    this.widthOfNames = 0;
    this.count = 0;
    this.current = -1;
    this.shown = new Map();
    this.spare = [];
    this.left = new Set();
    this.head = element("div", "grid-head");
    this.head.setAttribute("role", "row");
    this.head.setAttribute("aria-rowindex", "1");
    columns.forEach((column, index) => {
      const cell = element("div", `cell ${column.kind}`);
      cell.setAttribute("role", "columnheader");
      cell.setAttribute("aria-colindex", index + 1);
      const button = element("button", "sort", column.title);
      button.type = "button";
      button.title = column.explained;
      button.addEventListener("click", () => owner.sort(column.id));
      cell.append(button);
      this.head.append(cell);
    });
    this.body = element("div", "grid-body");
    this.body.setAttribute("role", "rowgroup");
    const headGroup = element("div", "grid-head-group");
    headGroup.setAttribute("role", "rowgroup");
    headGroup.append(this.head);
    place.setAttribute("aria-colcount", columns.length);
    this.empty = element("p", "empty");
    place.append(headGroup, this.body, this.empty);
    place.addEventListener("scroll", () => this.later(), { passive: true });
    place.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("click", (event) => this.onRow(event, (index) => owner.click(index, event)));
    this.body.addEventListener("dblclick", (event) => this.onRow(event, (index) => owner.enter(index)));
    this.body.addEventListener("mousemove", (event) => this.onRow(event, (index) => owner.hover(index)));
    this.body.addEventListener("mouseleave", () => owner.hover(-1));
    new ResizeObserver(() => {
      this.fit(place.clientWidth);
      this.later();
    }).observe(place);
  }

  onRow(event, act) {
    const row = event.target.closest(".row");
    if (row) {
      act(Number(row.dataset.index));
    }
  }

  // Leaves out columns until names are wide enough.
  fit(width) {
    if (width === 0) {
      return;
    }
    const isNarrow = width < NARROW_BELOW;
    this.isNarrow = isNarrow;
    this.place.classList.toggle("narrow", isNarrow);
    this.rowHeight = isNarrow ? NARROW_ROW_HEIGHT : ROW_HEIGHT;
    this.place.style.setProperty("--row", `${this.rowHeight}px`);
    const name = this.head.querySelector(".function");
    const room = width * (isNarrow ? NARROW_NAME_SHARE : NAME_SHARE);
    const candidates = this.leaving.filter((id) => this.columns.some((column) => column.id === id));
    for (let gone = 0; ; gone++) {
      this.left = new Set(candidates.slice(0, gone));
      this.lay(isNarrow);
      if (name.offsetWidth >= room || gone === candidates.length) {
        break;
      }
    }
    this.widthOfNames = name.offsetWidth;
    for (const row of [...this.shown.values(), ...this.spare]) {
      this.hideLeft(row.element.children);
      row.element.style.transform = `translateY(${row.element.dataset.index * this.rowHeight}px)`;
    }
    this.body.style.height = `${this.count * this.rowHeight}px`;
    this.stale = true;
  }

  // Arranges the other columns. In narrow tables names come first, and bars are below the text.
  lay(isNarrow) {
    this.owner.leftOut().forEach((id) => this.left.add(id));
    const there = this.columns.filter(({ id }) => !this.left.has(id) && !(isNarrow && id === "bar"));
    const first = ({ id }) => (isNarrow && id === "function" ? 0 : 1);
    there.sort((a, b) => first(a) - first(b));
    this.place.style.setProperty("--columns", there.map((column) => column.width).join(" "));
    this.hideLeft(this.head.children);
  }

  hideLeft(cells) {
    this.columns.forEach(({ id }, at) => {
      cells[at].hidden = this.left.has(id);
    });
  }

  // Shows other rows, or changed contents of the same rows.
  refresh(count, current) {
    this.count = count;
    this.current = current;
    this.empty.hidden = count > 0;
    this.empty.textContent = this.owner.nothing();
    this.body.style.height = `${count * this.rowHeight}px`;
    this.place.setAttribute("aria-rowcount", count + 1);
    for (const cell of this.head.children) {
      const column = this.columns[cell.getAttribute("aria-colindex") - 1];
      const order = this.owner.order(column.id);
      cell.setAttribute("aria-sort", order);
      cell.classList.toggle("sorted", order !== "none");
    }
    this.stale = true;
    this.draw();
  }

  // Makes `index` the current row. The other contents stay.
  point(index) {
    this.current = index;
    this.draw();
  }

  get height() {
    return this.place.clientHeight - this.head.offsetHeight;
  }

  draw() {
    this.start();
    const first = Math.max(0, Math.floor(this.place.scrollTop / this.rowHeight) - SPARE_ROWS);
    const onScreen = Math.ceil(Math.max(this.height, 0) / this.rowHeight) + 2 * SPARE_ROWS;
    const end = Math.min(this.count, first + onScreen);
    for (const [index, row] of this.shown) {
      if (index < first || index >= end) {
        this.shown.delete(index);
        this.spare.push(row);
        row.element.hidden = true;
      }
    }
    for (let index = first; index < end; index++) {
      let row = this.shown.get(index);
      const isNew = !row;
      if (isNew) {
        row = this.spare.pop() || this.newRow();
        this.shown.set(index, row);
        row.element.hidden = false;
        row.element.dataset.index = index;
        row.element.id = `${this.place.id}-row-${index}`;
        row.element.style.transform = `translateY(${index * this.rowHeight}px)`;
        row.element.setAttribute("aria-rowindex", index + 2);
      }
      if (isNew || this.stale) {
        this.owner.fill(row.element, row.cells, index);
      }
      const isCurrent = index === this.current;
      row.element.classList.toggle("current", isCurrent);
      row.element.setAttribute("aria-selected", isCurrent);
    }
    this.stale = false;
    if (this.shown.has(this.current)) {
      this.place.setAttribute("aria-activedescendant", `${this.place.id}-row-${this.current}`);
    } else {
      this.place.removeAttribute("aria-activedescendant");
    }
    this.owner.drawn();
  }

  newRow() {
    const row = element("div", "row");
    row.setAttribute("role", "row");
    const cells = {};
    this.columns.forEach((column, index) => {
      const cell = element("div", `cell ${column.kind}`);
      cell.setAttribute("role", "gridcell");
      cell.setAttribute("aria-colindex", index + 1);
      cells[column.id] = cell;
      row.append(cell);
    });
    this.hideLeft(row.children);
    this.body.append(row);
    return { element: row, cells };
  }

  // Scrolls a row into view; if it was far away, to the middle.
  reveal(index) {
    const high = this.rowHeight;
    const top = index * high;
    const { scrollTop } = this.place;
    if (this.height > 0 && (top < scrollTop || top + high > scrollTop + this.height)) {
      const near = Math.abs(top - scrollTop) < this.height + 2 * high;
      const middle = top - (this.height - high) / 2;
      const nearest = top < scrollTop ? top : top + high - this.height;
      this.place.scrollTop = near ? nearest : middle;
    }
  }

  key(event) {
    if (event.target !== this.place || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const page = Math.max(1, Math.floor(this.height / this.rowHeight) - 1);
    const steps = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -this.count,
      End: this.count,
    };
    if (event.key in steps) {
      const to = Math.min(Math.max(this.current + steps[event.key], 0), this.count - 1);
      if (to >= 0) {
        this.owner.move(to);
      }
    } else if (event.key === "ArrowRight") {
      this.owner.right(this.current);
    } else if (event.key === "ArrowLeft") {
      this.owner.left(this.current);
    } else if (event.key === "Enter" || event.key === " ") {
      this.owner.enter(this.current);
    } else {
      return;
    }
    event.preventDefault();
  }
}
