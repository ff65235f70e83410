// Which rows are shown, in which order, and which of them are folded.

// Maximum number of rows that "unfold all" shows in a bottom-up tree.
const UNFOLDED_CALLERS = 5000;

Object.assign(Page.prototype, {
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
  },

  // Equal rows are sorted by other times, then by name, to make the order unique.
  inOrder(rows, id, descending) {
    if (rows.length < 2) {
      return rows;
    }
    const rank = this.profile.data.rank;
    const keyed = rows.map((row) => [SORT_VALUES[id](row, this), row]);
    keyed.sort(([x, a], [y, b]) => {
      const order = x === null || y === null || !descending ? compare(x, y) : compare(y, x);
      return order || b.total - a.total || rank[a.fn] - rank[b.fn] || (a.row ?? 0) - (b.row ?? 0);
    });
    return keyed.map(([, row]) => row);
  },

  widestFirst(row) {
    let children = this.widest.get(row);
    if (!children) {
      const rows = this.tree.children(row).map((child) => this.treeRow(child));
      children = this.inOrder(rows, "total", true).map((child) => child.row);
      this.widest.set(row, children);
    }
    return children;
  },

  listRows() {
    this.rows = [];
    this.indexOf = new Map();
    const stack = this.sorted(-1).slice().reverse();
    while (stack.length > 0) {
      const row = stack.pop();
      this.indexOf.set(row, this.rows.length);
      this.rows.push(row);
      if (this.unfolded.has(row)) {
        const children = this.sorted(row);
        for (let at = children.length - 1; at >= 0; at--) {
          stack.push(children[at]);
        }
      }
    }
  },

  listFunctions() {
    const [id, descending] = this.orders.hot;
    const shown = [...this.functions.values()].filter(({ fn }) => this.query === "" || this.matches[fn] === 1);
    this.listed = this.inOrder(shown, id, descending);
  },

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
  },

  // As long as the user has not selected a row, selects the first row of the view.
  selectFirst() {
    if ((!this.chosen || this.selected < 0) && this.rows.length > 0) {
      const isList = this.view === "hot" && this.listed.length > 0;
      this.selected = isList ? this.placeOf(this.listed[0].fn) : this.rows[0];
    }
  },

  toggle(row) {
    if (row >= 0 && this.tree.children(row).length > 0) {
      this.fold(row, this.unfolded.has(row));
      this.listRows();
      this.refresh();
    }
  },

  fold(row, isFolded) {
    this.unfolded[isFolded ? "delete" : "add"](row);
  },

  right() {
    const children = this.selected < 0 ? [] : this.sorted(this.selected);
    if (children.length === 0) {
      return;
    }
    if (!this.unfolded.has(this.selected)) {
      this.toggle(this.selected);
    } else {
      this.select(children[0]);
    }
  },

  left() {
    const row = this.selected;
    if (row < 0) {
      return;
    }
    if (this.unfolded.has(row) && this.tree.children(row).length > 0) {
      this.toggle(row);
    } else if (this.tree.parent[row] >= 0) {
      this.select(this.tree.parent[row]);
    }
  },

  unfoldAll(isOpen) {
    this.unfolded = new Set();
    if (isOpen) {
      // Bottom-up, there may be millions of rows.
      const most = this.inverted ? UNFOLDED_CALLERS : Infinity;
      const rows = [...this.tree.children(-1)];
      for (let at = 0; at < rows.length && rows.length < most; at++) {
        this.unfolded.add(rows[at]);
        rows.push(...this.tree.children(rows[at]));
      }
    }
    // The selected row is hidden, so the row at the top of its path is selected.
    if (!isOpen && this.selected >= 0) {
      this.selected = this.tree.path(this.selected)[0];
    }
    this.listRows();
    this.refresh();
    this.reveal();
    this.details.later();
  },

  unfoldTo(row) {
    let changed = false;
    for (let at = this.tree.parent[row]; at >= 0; at = this.tree.parent[at]) {
      changed = changed || !this.unfolded.has(at);
      this.unfolded.add(at);
    }
    if (changed || !this.indexOf.has(row)) {
      this.listRows();
      return true;
    }
    return false;
  },

  // Index of the selected row in a view; -1 if the view does not show it.
  indexIn(view) {
    if (view === "tree") {
      return this.indexOf.get(this.selected) ?? -1;
    }
    const fn = this.selected < 0 ? -1 : this.tree.fn[this.selected];
    return this.listed.findIndex((row) => row.fn === fn);
  },
});
