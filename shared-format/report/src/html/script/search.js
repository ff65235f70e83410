// Index at which a function's own name begins: after the last `::` outside brackets.
function ownNameAt(text) {
  let [depth, at] = [0, 0];
  for (let index = 0; index < text.length - 2; index++) {
    depth += "<([{".includes(text[index]) ? 1 : ">)]}".includes(text[index]) ? -1 : 0;
    if (depth === 0 && text.startsWith("::", index)) {
      at = index + 2;
    }
  }
  return at;
}

Object.assign(Page.prototype, {
  search(text) {
    this.query = text.trim().toLowerCase();
    // Every full name contains the program's name, so full names are searched only if no short name matches.
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

  // Finds the matching rows in tree order, and their share of the time. A match inside another match adds no time.
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
        // In a bottom-up tree, a match at the top already has the function's self time. Its callers would repeat it.
        const children = this.inverted ? [] : this.sorted(row);
        for (let at = children.length - 1; at >= 0; at--) {
          stack.push([children[at], inside || isMatch]);
        }
      }
    }
    const rows = this.found.length === 1 ? "row" : "rows";
    const text = `${digits(this.found.length)} ${rows}, ${percent(tree.share(time))}`;
    byId("found").textContent = this.query === "" ? "" : text;
  },

  // Selects the next match (1) or the one before (-1).
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

  // A name in two parts, with the searched text marked. If space is short, the module part is cut first.
  named(text) {
    const from = this.query ? text.toLowerCase().indexOf(this.query) : -1;
    const to = from < 0 ? -1 : from + this.query.length;
    const part = (className, begin, end) => {
      const clamped = (at) => Math.min(Math.max(at, begin), end);
      const made = element("span", className, text.slice(begin, clamped(from)));
      if (clamped(from) < clamped(to)) {
        made.append(element("mark", "", text.slice(clamped(from), clamped(to))));
      }
      made.append(text.slice(clamped(to), end));
      return made;
    };
    const own = ownNameAt(text);
    return own === 0 ? [part("own", 0, text.length)] : [part("module", 0, own), part("own", own, text.length)];
  },

  isDim(row) {
    return this.query !== "" && (row < 0 || this.matches[this.tree.fn[row]] === 0);
  },
});
