// The page: which rows are shown, which one is selected, and what keys and buttons do.

// Up to so many rows everything is unfolded at first; of larger trees what costs at least a hundredth.
const UNFOLDED_ROWS = 60;
const UNFOLDED_SHARE = 0.01;

const VIEWS = ["tree", "flame", "hot", "slow"];

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
      tree: new Grid(byId("tree"), columns(this.profile, true), this.owner("tree")),
      hot: new Grid(byId("hot"), columns(this.profile, false), this.owner("hot")),
    };
    const flame = byId("flame");
    this.flame = new Flame(flame, flame.querySelector("canvas"), byId("flame-said"), this);
    this.slow = new Slow(byId("slow"), this);
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
    } else if (this.view === "slow") {
      this.slow.draw();
      this.light();
    } else {
      this.flame.draw();
      this.light();
    }
  }

  // Those that there is something for.
  views() {
    return VIEWS.filter((view) => view !== "slow" || this.slow.watches.length > 0);
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
    this.colour();
    byId("thread").value = thread === null ? "" : String(thread);
    byId("measure").value = String(this.profile.by);
    this.tiles();
    this.listRows();
    this.listFunctions();
    this.selectFirst();
    this.count();
    this.refresh();
    this.details.later();
  }

  chooseMeasure(by) {
    this.profile.choose(by);
    this.chooseThread(this.tree.thread);
  }

  static unfoldsAtFirst(tree, row) {
    const isSmall = tree.length <= UNFOLDED_ROWS;
    return isSmall || tree.share(tree.total[row]) >= UNFOLDED_SHARE ? 1 : 0;
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
    if (this.view === "slow") {
      return;
    }
    if (!grid) {
      this.flame.reveal();
      this.flame.later();
    } else if (grid.current >= 0) {
      grid.reveal(grid.current);
      grid.draw();
    }
  }

  zoomed(row) {
    byId("zoom-out").disabled = row < 0;
  }

  showsFunctions() {
    return this.view === "hot";
  }

  showView(view) {
    this.view = view;
    for (const name of VIEWS) {
      byId(name).hidden = name !== view;
      const tab = byId(`tab-${name}`);
      tab.setAttribute("aria-selected", name === view);
      tab.tabIndex = name === view ? 0 : -1;
    }
    document.querySelector(".for-tree").hidden = view !== "tree";
    document.querySelector(".for-flame").hidden = view !== "flame";
    document.querySelector(".for-slow").hidden = view !== "slow";
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
    const most = this.tree.self.reduce((most, own) => Math.max(most, own), 0);
    this.colours = new Colours(this.tree.share(most));
  }

  themed() {
    this.colour();
    const isDark = getComputedStyle(document.documentElement).colorScheme === "dark";
    byId("theme").textContent = isDark ? "Light" : "Dark";
    this.refresh();
  }
}
