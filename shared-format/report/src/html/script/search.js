// Searching for names.

// Where a function's own name begins: behind the last `::` that stands in no brackets.
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
        // Turned round, a row found tells where a function itself takes time; callers below it say the same again.
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

  // A name in two parts, with what was searched for marked: where there is no room for all of it, its module is cut first.
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
