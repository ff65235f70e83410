// Searching for names.

Object.assign(Page.prototype, {
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
  },

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
  },

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
  },

  // The text with what was searched for marked.
  marked(text) {
    const at = this.query ? text.toLowerCase().indexOf(this.query) : -1;
    if (at < 0) {
      return [text];
    }
    const end = at + this.query.length;
    return [text.slice(0, at), element("mark", "", text.slice(at, end)), text.slice(end)];
  },

  isDim(row) {
    return this.query !== "" && (row < 0 || this.matches[this.tree.fn[row]] === 0);
  },
});
