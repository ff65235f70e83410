// The page: shown rows, selected row, and what keys and buttons do.

// A tree of at most this many rows is unfolded at first. In larger trees, only rows with at least 1 % of the time are.
const UNFOLDED_ROWS = 60;
const UNFOLDED_SHARE = 0.01;

const VIEWS = ["tree", "flame", "hot", "threads", "slow", "timeline"];

const byId = (id) => document.getElementById(id);

class Page {
  constructor(data) {
    this.profile = new Profile(data);
    this.view = "tree";
    this.selected = -1;
    this.hovered = -1;
    this.query = "";
    this.matches = new Uint8Array(this.profile.functions);
    this.orders = { tree: ["total", true], hot: ["self", true] };
    this.details = new Details(byId("details").firstElementChild, this);
    this.grids = {
      tree: new Grid(byId("tree"), columns(this.profile, true), LEAVING_TREE, this.owner("tree")),
      hot: new Grid(byId("hot"), columns(this.profile, false), LEAVING_HOT, this.owner("hot")),
    };
    // Whether the bottom-up tree is shown, and whether shares are those of the parent.
    this.inverted = false;
    this.ofParent = false;
    const flame = byId("flame");
    this.flame = new Flame(flame, flame.querySelector("canvas"), byId("flame-said"), this);
    this.slow = new Slow(byId("slow"), this);
    this.threads = new Threads(byId("threads"), this);
    this.timeline = new TimelineView(byId("timeline"), this);
    this.head();
    this.listen();
    this.chooseThread(data.thread);
    const opens = data.opens_slow === undefined ? "tree" : "slow";
    this.showView(this.views().find((view) => location.hash === `#${view}`) || opens);
  }

  refresh() {
    const { tree, hot } = this.grids;
    if (this.view === "tree") {
      tree.refresh(this.rows.length, this.indexIn("tree"));
    } else if (this.view === "hot") {
      hot.refresh(this.listed.length, this.indexIn("hot"));
    } else {
      this[this.view].draw();
      this.light();
    }
  }

  // The views that have data.
  views() {
    return VIEWS.filter((view) => !byId(`tab-${view}`).hidden);
  }

  chooseThread(thread) {
    const isInverted = this.inverted;
    this.turn(false);
    const before = this.tree;
    const next = new Tree(this.profile, thread);
    let unfolded = Array.from(next.parent.keys()).filter((row) => Page.unfoldsAtFirst(next, row));
    if (before) {
      const here = next.counterparts(before);
      const there = before.counterparts(next);
      // Rows that the old tree lacked are folded or unfolded as at first.
      const isNew = (row) => there[row] < 0;
      unfolded = [...unfolded.filter(isNew), ...[...this.unfolded].map((old) => here[old]).filter((row) => row >= 0)];
      this.selected = this.selected < 0 ? -1 : here[this.selected];
    }
    // `straight` is always the call tree, even if `tree` is the bottom-up tree.
    Object.assign(this, { tree: next, straight: next, unfolded: new Set(unfolded) });
    this.functions = new Map(next.functions().map((row) => [row.fn, row]));
    // A function is shown by its first row, so the row with the most time comes first.
    this.functions.forEach((row) => row.outermost.sort((a, b) => next.total[b] - next.total[a] || a - b));
    byId("thread").value = thread === null ? "" : String(thread);
    byId("measure").value = String(this.profile.by);
    this.turn(isInverted);
    this.tiles();
    this.listFunctions();
    this.showTree();
  }

  showTree() {
    this.hovered = -1;
    this.position = [];
    this.sortedChildren = new Map();
    this.widest = new Map();
    this.flame.zoomed = -1;
    this.zoomed(-1);
    this.sayTurned();
    this.colour();
    this.grids.tree.fit(byId("tree").clientWidth);
    this.listRows();
    this.selectFirst();
    this.count();
    this.refresh();
    this.details.later();
  }

  // Switches between call tree and bottom-up tree. The selected function stays selected.
  turn(inverted) {
    if (inverted === this.inverted) {
      return;
    }
    const fn = this.selected < 0 ? -1 : this.tree.fn[this.selected];
    this.inverted = inverted;
    if (inverted) {
      this.unfoldedStraight = this.unfolded;
      Object.assign(this, { tree: new BottomUp(this.straight), unfolded: new Set() });
    } else {
      Object.assign(this, { tree: this.straight, unfolded: this.unfoldedStraight });
    }
    this.selected = fn < 0 ? -1 : this.placeOf(fn);
    byId("turn").setAttribute("aria-pressed", inverted);
  }

  // Shows the explanation of bottom-up rows if there are any.
  sayTurned() {
    byId("turned").hidden = !this.inverted || !["tree", "flame"].includes(this.view);
  }

  turnRound() {
    this.turn(!this.inverted);
    this.showTree();
    this.reveal();
  }

  placeOf(fn) {
    return this.inverted ? this.tree.topOf.get(fn) : this.functions.get(fn).outermost[0];
  }

  chooseShares(ofParent) {
    this.ofParent = ofParent;
    byId("percent").value = ofParent ? "parent" : "";
    this.refresh();
  }

  chooseMeasure(by) {
    this.profile.choose(by);
    this.chooseThread(this.tree.thread);
  }

  static unfoldsAtFirst(tree, row) {
    const isSmall = tree.length <= UNFOLDED_ROWS;
    return isSmall || tree.share(tree.total[row]) >= UNFOLDED_SHARE;
  }

  select(row) {
    this.chosen = true;
    this.selected = row;
    const unfolded = row >= 0 && this.unfoldTo(row);
    const grid = this.grids[this.view];
    if (grid && !unfolded) {
      grid.point(this.indexIn(this.view));
    } else {
      this.refresh();
    }
    this.reveal();
    this.details.later();
  }

  selectFunction(fn) {
    if (this.functions.has(fn)) {
      this.select(this.placeOf(fn));
    }
  }

  showFunction(fn) {
    if (this.functions.has(fn)) {
      this.showInTree(this.placeOf(fn));
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
    if (this.view === "flame") {
      this.flame.reveal();
      this.flame.later();
    } else if (grid && grid.current >= 0) {
      grid.reveal(grid.current);
      grid.draw();
    }
  }

  zoomed(row) {
    byId("zoom-out").disabled = row < 0;
  }

  // Whether each row at the top is a function over all its call sites.
  showsFunctions() {
    return this.view === "hot" || this.inverted;
  }

  showView(view) {
    this.view = view;
    for (const name of VIEWS) {
      byId(name).hidden = name !== view;
      const tab = byId(`tab-${name}`);
      tab.setAttribute("aria-selected", name === view);
      tab.tabIndex = name === view ? 0 : -1;
    }
    for (const part of document.querySelectorAll("[data-for]")) {
      part.hidden = !part.dataset.for.split(" ").includes(view);
    }
    this.sayTurned();
    byId("tip").hidden = true;
    this.hovered = -1;
    this.zoomed(this.flame.zoomed);
    this.selectFirst();
    this.refresh();
    this.reveal();
    this.details.later();
  }

  switchTheme() {
    const root = document.documentElement;
    const isDark = getComputedStyle(root).colorScheme === "dark";
    root.dataset.theme = isDark ? "light" : "dark";
    this.themed();
  }

  colour() {
    const rows = this.inverted ? this.tree.top : this.tree.self.keys();
    let most = 0;
    for (const row of rows) {
      most = Math.max(most, this.tree.own(row));
    }
    this.colours = new Colours(this.tree.share(most));
  }

  themed() {
    this.colour();
    const isDark = getComputedStyle(document.documentElement).colorScheme === "dark";
    byId("theme").textContent = isDark ? "Light" : "Dark";
    this.refresh();
  }
}
