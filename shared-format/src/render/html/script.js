// The page: which rows are shown, which one is selected, and what keys and buttons do.

// Up to so many rows everything is unfolded at first; of larger trees what costs at least a hundredth.
const UNFOLDED_ROWS = 60;
const UNFOLDED_SHARE = 0.01;
// Below this depth indentation no longer grows; the rest is a number.
const MAX_INDENT = 30;
const INDENT_WIDTH = 14;
// With this share of the time in itself a row is as hot as it gets.
const HOTTEST_SHARE = 0.3;

const byId = (id) => document.getElementById(id);

// === Colours ===

function rgb(colour) {
  const number = parseInt(colour.trim().slice(1), 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}

class Colours {
  constructor() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(name);
    this.accent = of("--accent");
    this.text = of("--text");
    this.neutral = of("--neutral");
    this.from = rgb(of("--ground"));
    this.to = rgb(this.accent);
  }

  static strength(share) {
    return Math.sqrt(Math.min(Math.max(share, 0) / HOTTEST_SHARE, 1));
  }

  mixed(amount) {
    return this.from.map((from, at) => Math.round(from + (this.to[at] - from) * amount));
  }

  // The stronger the colour, the more time is spent in the row itself.
  heat(share, least) {
    return `rgb(${this.mixed(least + (1 - least) * Colours.strength(share)).join(" ")})`;
  }

  // The same behind letters, thin enough for any of them.
  tint(share) {
    return `rgb(${this.to.join(" ")} / ${Math.round(Colours.strength(share) * 50)}%)`;
  }

  // Letters that can be read on that.
  on(share) {
    const [red, green, blue] = this.mixed(0.12 + 0.88 * Colours.strength(share));
    return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#111111" : "#ffffff";
  }
}

// === Columns ===

const column = (id, title, kind, width, explained) => ({ id, title, kind, width, explained });

function columns(profile, inTree) {
  const widest = inTree ? "minmax(22ch, 1fr)" : "minmax(16ch, 1fr)";
  const total = [
    column("share", "%TOT", "number", "6.5ch", "Share of all time inside scopes, with callees"),
    column("total", "TOTAL", "number", "7ch", "Time with callees"),
  ];
  const own = [
    column("self", "SELF", "number", "7ch", "Time in the function alone"),
    column("selfShare", "%SELF", "number warm", "6.5ch", "Share of all time inside scopes, in the function alone"),
  ];
  const latencies = [
    column("p50", "P50", "number minor optional", "6ch", "Half of the finished calls took no longer"),
    column("p99", "P99", "number minor optional", "6ch", "99 of 100 finished calls took no longer"),
    column("max", "MAX", "number minor optional", "7ch", "The longest finished call; <= where only a bound is known"),
  ];
  const all = [
    ...(inTree ? [...total, ...own] : [own[1], own[0], total[1], total[0]]),
    column("calls", "CALLS", "number", "5.5ch", "Calls begun since the reset"),
    column("average", "AVG", "number", "7ch", "TOTAL / CALLS"),
    ...(profile.latency.size > 0 ? latencies : []),
    ...(inTree && profile.errors.size > 0 ? [column("errors", "ERR", "number", "5ch", "Clock errors")] : []),
    column("bar", "", "bar-cell", "72px", "Length: %TOT; coloured part: %SELF"),
    column("function", "FUNCTION", "function", widest, "Name; • open now, † doubtful"),
  ];
  return inTree ? all : [...all, column("place", "WHERE", "place optional", "minmax(16ch, 0.5fr)", "Where it stands in the source")];
}

// === Rows of one view, in the order in which they are shown ===

// What a column is sorted by; null stands last either way.
function sortValue(page, row, id) {
  const values = {
    share: () => row.total,
    total: () => row.total,
    bar: () => row.total,
    self: () => row.self,
    selfShare: () => row.self,
    calls: () => row.calls,
    average: () => (row.calls > 0 ? row.total / row.calls : null),
    errors: () => row.errors,
    p50: () => page.latencyOf(row).quantile(0.5),
    p99: () => page.latencyOf(row).quantile(0.99),
    max: () => (page.latencyOf(row).longest() || [null])[0],
    function: () => page.profile.data.rank[row.fn],
    place: () => page.profile.place(row.fn),
  };
  return values[id]();
}

const fromA = (id) => id === "function" || id === "place";

function compare(a, b) {
  if (a === b) {
    return 0;
  }
  if (a === null || b === null) {
    return a === null ? 1 : -1;
  }
  return a < b ? -1 : 1;
}

class Page {
  constructor(data) {
    this.profile = new Profile(data);
    this.view = "tree";
    this.selected = -1;
    this.hovered = -1;
    this.query = "";
    this.matches = new Uint8Array(this.profile.functions);
    this.orders = { tree: ["total", true], hot: ["self", true] };
    this.colours = new Colours();
    this.details = new Details(byId("details").firstElementChild, this);
    this.grids = {
      tree: new Grid(byId("tree"), columns(this.profile, true), this.owner("tree")),
      hot: new Grid(byId("hot"), columns(this.profile, false), this.owner("hot")),
    };
    for (const grid of Object.values(this.grids)) {
      const template = (columns) => columns.map(({ width }) => width).join(" ");
      const narrow = grid.columns.filter(({ kind }) => !kind.includes("optional"));
      grid.place.style.setProperty("--columns", template(grid.columns));
      grid.place.style.setProperty("--columns-narrow", template(narrow));
    }
    const flame = byId("flame");
    this.flame = new Flame(flame, flame.querySelector("canvas"), byId("flame-said"), this);
    this.head();
    this.listen();
    this.chooseThread(data.thread);
    this.showView(["tree", "flame", "hot"].find((view) => location.hash === `#${view}`) || "tree");
  }

  // What a grid asks for its rows.
  owner(view) {
    return {
      narrowBelow: view === "tree" ? 840 : 935,
      sort: (id) => this.sort(view, id),
      order: (id) => {
        const [column, descending] = this.orders[view];
        return column !== id ? "none" : descending ? "descending" : "ascending";
      },
      fill: (element, cells, index) => this.fill(view, element, cells, index),
      click: (index, event) => {
        this.select(this.rowAt(view, index));
        if (event.target.classList.contains("twist")) {
          this.toggle(this.selected);
        }
      },
      hover: (index) => this.hover(index < 0 ? -1 : this.rowAt(view, index)),
      move: (index) => this.select(this.rowAt(view, index)),
      enter: () => (view === "tree" ? this.toggle(this.selected) : this.showInTree(this.selected)),
      right: () => view === "tree" && this.right(),
      left: () => view === "tree" && this.left(),
      drawn: () => this.light(),
      nothing: () => (this.query === "" ? "No scope has been entered since the reset." : "No function has that in its name."),
    };
  }

  rowAt(view, index) {
    return view === "tree" ? this.rows[index] : this.listed[index].outermost[0];
  }

  // --- Texts ---

  time(ns, estimated) {
    return (estimated ? "~" : "") + duration(ns);
  }

  shareText(ns, estimated) {
    return (estimated ? "~" : "") + percent(this.tree.share(ns));
  }

  average(total, calls, estimated) {
    return calls > 0 ? this.time(BigInt(total) / BigInt(calls), estimated & 2) : "-";
  }

  threadText(thread) {
    const { data } = this.profile;
    const finished = data.thread_state[thread] === "finished";
    const which = finished ? `${digits(data.thread_count[thread])} finished` : `tid ${data.thread_tid[thread]}`;
    return `${data.thread_name[thread]} (${which})`;
  }

  everything() {
    const { thread, measured } = this.tree;
    const who = thread === null ? "all threads" : this.threadText(thread);
    return `${who}: ${this.measuredText(measured)} inside scopes`;
  }

  measuredText(measured) {
    return this.time(measured, this.tree.top.some((row) => this.tree.estimated[row] & 2));
  }

  flameText(row) {
    return `${this.profile.label(this.tree.fn[row])}  ${this.shareText(this.tree.total[row], this.tree.estimated[row] & 2)}`;
  }

  spoken(row) {
    const { tree } = this;
    const [total, own] = [tree.total[row], tree.self[row]];
    const flags = tree.estimated[row];
    return (
      `${this.profile.label(tree.fn[row])}: total ${this.time(total, flags & 2)}, ${this.shareText(total, flags & 2)}; ` +
      `self ${this.time(own, flags & 1)}, ${this.shareText(own, flags & 1)}; ` +
      `${count(tree.calls[row])} calls, ${this.average(total, tree.calls[row], flags)} on average`
    );
  }

  latencyOf(row) {
    if (row.rows) {
      row.latency = row.latency || this.tree.latencyOf(row.rows);
      return row.latency;
    }
    return this.tree.latency(row.row);
  }

  // A row of the tree, as columns see it.
  treeRow(row) {
    const { tree } = this;
    return {
      row,
      fn: tree.fn[row],
      total: tree.total[row],
      self: tree.self[row],
      calls: tree.calls[row],
      open: tree.open[row],
      errors: tree.errors[row],
      estimated: tree.estimated[row],
    };
  }

  texts(row) {
    const latency = this.latencyOf(row);
    const ticks = (ticks) => (ticks === null ? "-" : twoDigits(this.profile.nanos(ticks)));
    const [longest, exact] = latency.longest() || [null, true];
    return {
      share: this.shareText(row.total, row.estimated & 2),
      total: this.time(row.total, row.estimated & 2),
      self: this.time(row.self, row.estimated & 1),
      selfShare: this.shareText(row.self, row.estimated & 1),
      calls: count(row.calls),
      average: this.average(row.total, row.calls, row.estimated),
      p50: ticks(latency.quantile(0.5)),
      p99: ticks(latency.quantile(0.99)),
      max: (exact ? "" : "<=") + ticks(longest),
      errors: count(row.errors),
      place: this.profile.data.place[row.fn],
    };
  }

  marks(row) {
    const open = row.open > 0 ? " •" : "";
    return open + (this.profile.isDoubtful(row.total, row.calls) ? " †" : "");
  }

  // --- Drawing ---

  fill(view, line, cells, index) {
    const { tree, profile } = this;
    const inTree = view === "tree";
    const row = inTree ? this.treeRow(this.rows[index]) : this.listed[index];
    const texts = this.texts(row);
    for (const id in cells) {
      if (id in texts) {
        cells[id].textContent = texts[id];
      }
    }
    cells.selfShare.style.background = this.colours.tint(tree.share(row.self));
    const track = element("div", "track");
    const total = element("div", "total");
    total.style.width = `${tree.share(row.total) * 100}%`;
    const own = element("div", "self");
    own.style.width = `${tree.share(row.self) * 100}%`;
    own.style.background = this.colours.heat(tree.share(row.self), 0.3);
    track.append(total, own);
    cells.bar.replaceChildren(track);
    const label = element("span", "label");
    label.append(...this.marked(profile.label(row.fn)));
    label.title = profile.name(row.fn);
    cells.function.replaceChildren(label);
    const marks = this.marks(row);
    if (marks) {
      cells.function.append(element("span", "marks", marks));
    }
    line.classList.toggle("dim", this.isDim(row.fn === undefined ? -1 : row.row ?? row.outermost[0]));
    if (inTree) {
      this.fillTree(line, cells.function, row.row);
    }
  }

  fillTree(line, cell, row) {
    const { tree } = this;
    const depth = tree.depth[row];
    const hasChildren = tree.children(row).length > 0;
    const isOpen = this.unfolded[row] === 1;
    const rails = element("span", "rails");
    rails.style.width = `${Math.min(depth, MAX_INDENT) * INDENT_WIDTH}px`;
    const twist = element("span", hasChildren ? "twist can" : "twist", hasChildren ? (isOpen ? "▾" : "▸") : "");
    const deep = depth > MAX_INDENT ? [element("span", "deep", `…+${depth - MAX_INDENT}`)] : [];
    cell.prepend(rails, ...deep, twist);
    line.setAttribute("aria-level", depth + 1);
    const siblings = this.sorted(tree.parent[row]);
    line.setAttribute("aria-setsize", siblings.length);
    line.setAttribute("aria-posinset", this.position[row] + 1);
    if (hasChildren) {
      line.setAttribute("aria-expanded", isOpen);
    } else {
      line.removeAttribute("aria-expanded");
    }
  }

  // The text with what was searched for marked.
  marked(text) {
    const at = this.query ? text.toLowerCase().indexOf(this.query) : -1;
    if (at < 0) {
      return [text];
    }
    const end = at + this.query.length;
    return [text.slice(0, at), element("mark", "", text.slice(at, end)), text.slice(end)];
  }

  isDim(row) {
    return this.query !== "" && (row < 0 || this.matches[this.tree.fn[row]] === 0);
  }

  // Rows from the top to the one under the pointer.
  lit() {
    return this.hovered < 0 ? [] : this.tree.path(this.hovered);
  }

  light() {
    const lit = new Set(this.lit());
    const same = this.hovered < 0 ? -1 : this.tree.fn[this.hovered];
    for (const [index, { element }] of this.grids.tree.shown) {
      const row = this.rows[index];
      element.classList.toggle("lit", lit.has(row));
      element.classList.toggle("same", !lit.has(row) && this.tree.fn[row] === same);
    }
    for (const [index, { element }] of this.grids.hot.shown) {
      const row = this.listed[index];
      element.classList.toggle("lit", row !== undefined && row.fn === same);
    }
    const row = this.hovered >= 0 ? this.hovered : this.selected;
    const path = row < 0 ? [] : this.tree.path(row).map((at) => this.profile.label(this.tree.fn[at]));
    byId("path").replaceChildren(element("bdi", "", path.join(" › ")));
  }

  refresh() {
    const { tree, hot } = this.grids;
    if (this.view === "tree") {
      tree.refresh(this.rows.length, this.indexOf.get(this.selected) ?? -1);
    } else if (this.view === "hot") {
      const fn = this.selected < 0 ? -1 : this.tree.fn[this.selected];
      hot.refresh(this.listed.length, this.listed.findIndex((row) => row.fn === fn));
    } else {
      this.flame.draw();
      this.light();
    }
  }

  // --- Which rows there are ---

  sorted(row) {
    let children = this.sortedChildren.get(row);
    if (!children) {
      const [id, descending] = this.orders.tree;
      children = this.inOrder(
        this.tree.children(row).map((child) => this.treeRow(child)),
        id,
        descending,
      ).map((child) => child.row);
      children.forEach((child, at) => {
        this.position[child] = at;
      });
      this.sortedChildren.set(row, children);
    }
    return children;
  }

  // Ties go by the other times, then by name, so that the order never depends on chance.
  inOrder(rows, id, descending) {
    const rank = this.profile.data.rank;
    const keyed = rows.map((row) => [sortValue(this, row, id), row]);
    keyed.sort(([x, a], [y, b]) => {
      const order = x === null || y === null || !descending ? compare(x, y) : compare(y, x);
      return order || b.total - a.total || rank[a.fn] - rank[b.fn] || (a.row ?? 0) - (b.row ?? 0);
    });
    return keyed.map(([, row]) => row);
  }

  widestFirst(row) {
    let children = this.widest.get(row);
    if (!children) {
      const rows = this.tree.children(row).map((child) => this.treeRow(child));
      children = this.inOrder(rows, "total", true).map((child) => child.row);
      this.widest.set(row, children);
    }
    return children;
  }

  listRows() {
    this.rows = [];
    this.indexOf = new Map();
    const stack = this.sorted(-1).slice().reverse();
    while (stack.length > 0) {
      const row = stack.pop();
      this.indexOf.set(row, this.rows.length);
      this.rows.push(row);
      if (this.unfolded[row] === 1) {
        const children = this.sorted(row);
        for (let at = children.length - 1; at >= 0; at--) {
          stack.push(children[at]);
        }
      }
    }
  }

  listFunctions() {
    const [id, descending] = this.orders.hot;
    const shown = [...this.functions.values()].filter(({ fn }) => this.query === "" || this.matches[fn] === 1);
    this.listed = this.inOrder(shown, id, descending);
  }

  chooseThread(thread) {
    const before = this.tree;
    const next = new Tree(this.profile, thread);
    const unfolded = new Uint8Array(next.length);
    if (before) {
      const here = next.counterparts(before);
      here.forEach((row, old) => {
        if (row >= 0) {
          unfolded[row] = this.unfolded[old];
        }
      });
      this.selected = this.selected < 0 ? -1 : here[this.selected];
      // Rows that the tree before had not are as they are at first.
      const there = before.counterparts(next);
      there.forEach((old, row) => {
        if (old < 0) {
          unfolded[row] = Page.unfoldsAtFirst(next, row);
        }
      });
    } else {
      unfolded.forEach((_, row) => {
        unfolded[row] = Page.unfoldsAtFirst(next, row);
      });
    }
    Object.assign(this, { tree: next, unfolded, hovered: -1 });
    this.position = new Int32Array(next.length);
    this.sortedChildren = new Map();
    this.widest = new Map();
    this.functions = new Map(next.functions().map((row) => [row.fn, row]));
    // The most expensive place of a function stands for it.
    this.functions.forEach((row) => row.outermost.sort((a, b) => next.total[b] - next.total[a] || a - b));
    this.flame.zoomed = -1;
    byId("thread").value = thread === null ? "" : String(thread);
    this.tiles();
    this.listRows();
    this.listFunctions();
    this.selectFirst();
    this.count();
    this.refresh();
    this.details.show();
  }

  static unfoldsAtFirst(tree, row) {
    const isSmall = tree.length <= UNFOLDED_ROWS;
    return isSmall || tree.share(tree.total[row]) >= UNFOLDED_SHARE ? 1 : 0;
  }

  // Until somebody has chosen a row, the first one of the view is selected.
  selectFirst() {
    if ((!this.chosen || this.selected < 0) && this.rows.length > 0) {
      const isList = this.showsFunctions() && this.listed.length > 0;
      this.selected = isList ? this.listed[0].outermost[0] : this.rows[0];
    }
  }

  sort(view, id) {
    const [column, descending] = this.orders[view];
    this.orders[view] = [id, column === id ? !descending : !fromA(id)];
    if (view === "tree") {
      this.sortedChildren = new Map();
      this.listRows();
    } else {
      this.listFunctions();
    }
    this.refresh();
    this.reveal();
  }

  // --- Folding and selecting ---

  toggle(row) {
    if (row >= 0 && this.tree.children(row).length > 0) {
      this.unfolded[row] ^= 1;
      this.listRows();
      this.refresh();
    }
  }

  right() {
    const children = this.selected < 0 ? [] : this.sorted(this.selected);
    if (children.length === 0) {
      return;
    }
    if (this.unfolded[this.selected] === 0) {
      this.toggle(this.selected);
    } else {
      this.select(children[0]);
    }
  }

  left() {
    const row = this.selected;
    if (row < 0) {
      return;
    }
    if (this.unfolded[row] === 1 && this.tree.children(row).length > 0) {
      this.toggle(row);
    } else if (this.tree.parent[row] >= 0) {
      this.select(this.tree.parent[row]);
    }
  }

  unfoldAll(isOpen) {
    this.unfolded.fill(isOpen ? 1 : 0);
    // What is selected must not vanish.
    if (!isOpen && this.selected >= 0) {
      this.selected = this.tree.path(this.selected)[0];
    }
    this.listRows();
    this.refresh();
    this.reveal();
    this.details.show();
  }

  unfoldTo(row) {
    let changed = false;
    for (let at = this.tree.parent[row]; at >= 0; at = this.tree.parent[at]) {
      changed = changed || this.unfolded[at] === 0;
      this.unfolded[at] = 1;
    }
    if (changed || !this.indexOf.has(row)) {
      this.listRows();
    }
  }

  select(row) {
    this.chosen = true;
    this.selected = row;
    if (row >= 0) {
      this.unfoldTo(row);
    }
    this.refresh();
    this.reveal();
    this.details.show();
  }

  selectFunction(fn) {
    const row = this.functions.get(fn);
    if (row) {
      this.select(row.outermost[0]);
    }
  }

  showInTree(row) {
    if (row >= 0) {
      this.showView("tree");
      this.select(row);
    }
  }

  hottest() {
    let row = -1;
    for (;;) {
      const [next] = this.widestFirst(row);
      if (next === undefined || (row >= 0 && this.tree.total[next] < this.tree.self[row])) {
        break;
      }
      row = next;
    }
    if (row >= 0) {
      this.select(row);
    }
  }

  reveal() {
    const grid = this.grids[this.view];
    if (!grid) {
      this.flame.reveal();
      this.flame.later();
    } else if (grid.current >= 0) {
      grid.reveal(grid.current);
      grid.draw();
    }
  }

  hover(row) {
    if (row !== this.hovered) {
      this.hovered = row;
      this.light();
    }
  }

  hoverFlame(row, event) {
    const tip = byId("tip");
    tip.hidden = row < 0;
    if (row !== this.hovered) {
      this.hovered = row;
      this.flame.later();
      this.light();
    }
    if (row >= 0) {
      tip.textContent = this.spoken(row).replace(": ", "\n").replaceAll("; ", "\n");
      const { innerWidth, innerHeight } = window;
      tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
      tip.style.top = `${Math.min(event.clientY + 18, innerHeight - tip.offsetHeight - 8)}px`;
    }
  }

  zoomed(row) {
    byId("zoom-out").disabled = row < 0;
  }

  showsFunctions() {
    return this.view === "hot";
  }

  // --- Searching ---

  search(text) {
    this.query = text.trim().toLowerCase();
    // In short names, and in whole paths where no short name has it: every path has the program's name.
    for (const name of ["label", "name"]) {
      this.matches = Uint8Array.from({ length: this.profile.functions }, (_, fn) =>
        this.query !== "" && this.profile[name](fn).toLowerCase().includes(this.query) ? 1 : 0,
      );
      if (this.matches.includes(1)) {
        break;
      }
    }
    this.listFunctions();
    this.count();
    this.refresh();
  }

  // Rows that were found, in the order of the whole tree; and their share, what is in another of them counted once.
  count() {
    const { tree } = this;
    this.found = [];
    let time = 0;
    if (this.query !== "") {
      const stack = this.sorted(-1).map((row) => [row, false]).reverse();
      while (stack.length > 0) {
        const [row, inside] = stack.pop();
        const isMatch = this.matches[tree.fn[row]] === 1;
        if (isMatch) {
          this.found.push(row);
          time += inside ? 0 : tree.total[row];
        }
        const children = this.sorted(row);
        for (let at = children.length - 1; at >= 0; at--) {
          stack.push([children[at], inside || isMatch]);
        }
      }
    }
    const rows = this.found.length === 1 ? "row" : "rows";
    const text = `${digits(this.found.length)} ${rows}, ${percent(tree.share(time))}`;
    byId("found").textContent = this.query === "" ? "" : text;
  }

  // The next row that was found, or the one before.
  next(step) {
    if (this.found.length === 0) {
      return;
    }
    if (this.view === "hot") {
      this.showInTree(this.found[0]);
      return;
    }
    const at = this.found.indexOf(this.selected);
    const from = at < 0 && step < 0 ? 0 : at;
    this.select(this.found[(from + step + this.found.length) % this.found.length]);
  }

  // --- Head, buttons and keys ---

  head() {
    const { data } = this.profile;
    byId("program").textContent = data.program;
    const local = new Date(data.unix_ms).toLocaleString();
    const summary = byId("summary");
    summary.textContent = `pid ${data.pid} · ${data.state} · ${data.taken} · mode ${data.mode}${data.compensated ? " · compensated" : ""}`;
    summary.title = `${local} where you are`;
    byId("doubtful-below").textContent = duration(Math.round(data.doubtful_below_ns));
    byId("doubts").hidden = data.doubts.length === 0;
    byId("doubts").querySelector("ul").append(...data.doubts.map((text) => element("li", "", text)));
    const facts = byId("facts").querySelector("dl");
    data.facts.forEach(([name, text]) => facts.append(element("dt", "", name), element("dd", "", text)));
    const threads = byId("thread");
    const option = (value, text) => {
      const made = element("option", "", text);
      made.value = value;
      return made;
    };
    threads.append(option("", "all, merged by path"));
    data.thread_rows.forEach((_, thread) => threads.append(option(String(thread), this.threadText(thread))));
  }

  tiles() {
    const { data } = this.profile;
    const outside = data.thread_outside_ns.reduce(
      (sum, ns, thread) => sum + (this.tree.thread === null || this.tree.thread === thread ? ns : 0),
      0,
    );
    const tiles = [
      ["since reset", data.since_reset, "How long the counters have been running"],
      ["in scopes", this.measuredText(this.tree.measured), `100 %; ${duration(outside)} passed outside any scope and are no part of it`],
      ["calls", count(this.tree.allCalls), "Calls of all rows"],
      ["cost", `${data.cost_lower} – ${data.cost_upper}`, "What measuring takes of all time in scopes, at least and at most"],
    ];
    byId("tiles").replaceChildren(
      ...tiles.map(([name, text, explained]) => {
        const tile = element("div");
        tile.title = explained;
        tile.append(element("dt", "", name), element("dd", "", text));
        return tile;
      }),
    );
  }

  showView(view) {
    this.view = view;
    for (const name of ["tree", "flame", "hot"]) {
      byId(name).hidden = name !== view;
      const tab = byId(`tab-${name}`);
      tab.setAttribute("aria-selected", name === view);
      tab.tabIndex = name === view ? 0 : -1;
    }
    document.querySelector(".for-tree").hidden = view !== "tree";
    document.querySelector(".for-flame").hidden = view !== "flame";
    byId("tip").hidden = true;
    this.hovered = -1;
    this.zoomed(this.flame.zoomed);
    this.selectFirst();
    this.refresh();
    this.reveal();
    this.details.show();
  }

  switchTheme() {
    const root = document.documentElement;
    const isDark = getComputedStyle(root).colorScheme === "dark";
    root.dataset.theme = isDark ? "light" : "dark";
    this.themed();
  }

  themed() {
    this.colours = new Colours();
    const isDark = getComputedStyle(document.documentElement).colorScheme === "dark";
    byId("theme").textContent = isDark ? "Light" : "Dark";
    this.refresh();
  }

  listen() {
    const click = (id, act) => byId(id).addEventListener("click", act);
    click("theme", () => this.switchTheme());
    click("facts-button", () => byId("facts").showModal());
    click("help-button", () => byId("help").showModal());
    click("hottest", () => this.hottest());
    click("unfold", () => this.unfoldAll(true));
    click("fold", () => this.unfoldAll(false));
    click("zoom-in", () => this.flame.zoom(this.selected));
    click("zoom-out", () => this.flame.out());
    document.querySelectorAll("[role=tab]").forEach((tab) => {
      tab.addEventListener("click", () => this.showView(tab.dataset.view));
    });
    document.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) {
        const views = ["tree", "flame", "hot"];
        this.showView(views[(views.indexOf(this.view) + step + views.length) % views.length]);
        byId(`tab-${this.view}`).focus();
        event.preventDefault();
      }
    });
    byId("thread").addEventListener("change", ({ target }) => {
      this.chooseThread(target.value === "" ? null : Number(target.value));
    });
    const search = byId("search");
    search.addEventListener("input", () => this.search(search.value));
    search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        this.next(event.shiftKey ? -1 : 1);
        event.preventDefault();
      } else if (event.key === "ArrowDown") {
        byId(this.view).focus();
        event.preventDefault();
      }
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.themed());
    document.addEventListener("keydown", (event) => this.key(event));
  }

  escape() {
    const search = byId("search");
    if (this.query !== "" || document.activeElement === search) {
      search.value = "";
      this.search("");
      byId(this.view).focus();
    } else if (this.view === "flame") {
      this.flame.out();
    }
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) {
      return;
    }
    const typing = ["INPUT", "SELECT"].includes(event.target.tagName);
    if (event.key === "Escape") {
      this.escape();
      return;
    }
    const view = (name) => () => {
      this.showView(name);
      byId(name).focus();
    };
    const keys = {
      1: view("tree"),
      2: view("flame"),
      3: view("hot"),
      "/": () => byId("search").focus(),
      "?": () => byId("help").showModal(),
      m: () => byId("facts").showModal(),
      n: () => this.next(1),
      N: () => this.next(-1),
      d: () => this.switchTheme(),
      t: () => byId("thread").focus(),
      h: () => this.view === "tree" && this.hottest(),
      e: () => this.view === "tree" && this.unfoldAll(true),
      c: () => this.view === "tree" && this.unfoldAll(false),
    };
    if (!typing && Object.hasOwn(keys, event.key)) {
      keys[event.key]();
      event.preventDefault();
    }
  }
}

// === Start ===

byId("app").hidden = false;
const page = new Page(JSON.parse(byId("data").textContent));
page.themed();
byId(page.view).focus();
