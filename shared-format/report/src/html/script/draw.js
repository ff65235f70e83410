// Draws the visible rows, and highlights the row under the pointer.

const INDENT_WIDTH = 14;
const NARROW_INDENT_WIDTH = 7;
// Maximum share of the name column for indentation. `LEAST_INDENT` levels are always indented; deeper rows show a number.
const INDENT_SHARE = 0.5;
const LEAST_INDENT = 6;
// Maximum number of names of the path at the bottom. Those nearest to the row are shown.
const PATH_SHOWN = 40;

Object.assign(Page.prototype, {
  // Returns what a grid needs to know about its rows.
  owner(view) {
    return {
      sort: (id) => this.sort(view, id),
      order: (id) => {
        const [column, descending] = this.orders[view];
        return column !== id ? "none" : descending ? "descending" : "ascending";
      },
      // The bottom-up tree has no columns of self time: its totals are self time.
      leftOut: () => (view === "tree" && this.inverted ? ["self", "selfShare"] : []),
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
      nothing: () => (this.query === "" ? "No scope has been entered." : "No function has that in its name."),
    };
  },

  rowAt(view, index) {
    return view === "tree" ? this.rows[index] : this.placeOf(this.listed[index].fn);
  },

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
    if (cells.place) {
      cells.place.title = profile.place(row.fn);
    }
    cells.selfShare.style.background = this.colours.tint(tree.share(row.self));
    const self = inTree ? tree.own(row.row) : row.self;
    const track = element("div", "track");
    const total = element("div", "total");
    total.style.width = `${this.shareOf(row.total, row.row) * 100}%`;
    const own = element("div", "self");
    own.style.width = `${this.shareOf(self, row.row) * 100}%`;
    own.style.background = this.colours.heat(tree.share(self), 0.3);
    track.append(total, own);
    cells.bar.replaceChildren(track);
    const label = element("span", "label");
    label.append(...this.named(profile.label(row.fn)));
    label.title = profile.name(row.fn);
    cells.function.replaceChildren(label);
    const marks = this.marks(row);
    if (marks) {
      cells.function.append(element("span", "marks", marks));
    }
    line.classList.toggle("dim", this.isDim(row.row ?? this.placeOf(row.fn)));
    if (inTree) {
      this.fillTree(line, cells.function, row.row);
    }
  },

  fillTree(line, cell, row) {
    const { tree } = this;
    const depth = tree.depth[row];
    const hasChildren = tree.children(row).length > 0;
    const isOpen = this.unfolded.has(row);
    const rails = element("span", "rails");
    const { widthOfNames, isNarrow } = this.grids.tree;
    const step = isNarrow ? NARROW_INDENT_WIDTH : INDENT_WIDTH;
    const room = Math.floor((widthOfNames * INDENT_SHARE) / step);
    const indented = Math.min(depth, Math.max(room, LEAST_INDENT));
    rails.style.width = `${indented * step}px`;
    const twist = element("span", hasChildren ? "twist can" : "twist", hasChildren ? (isOpen ? "▾" : "▸") : "");
    const deep = depth > indented ? [element("span", "deep", `…+${depth - indented}`)] : [];
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
  },

  // The row under the pointer and the rows above it.
  lit() {
    return this.hovered < 0 ? [] : this.tree.path(this.hovered);
  },

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
    const path = row < 0 ? [] : this.tree.path(row);
    const shown = path.slice(-PATH_SHOWN).map((at) => this.profile.label(this.tree.fn[at]));
    if (path.length > PATH_SHOWN) {
      shown.unshift("…");
    }
    byId("path").replaceChildren(element("bdi", "", shown.join(this.inverted ? " ‹ " : " › ")));
  },

  // The colours of a frame in the flame graph and of its text.
  fillOf(row) {
    const { tree, colours } = this;
    if (row < 0) {
      return [colours.neutral, colours.text];
    }
    const share = tree.share(tree.own(row));
    return [colours.heat(share, 0.12), colours.on(share)];
  },

  hover(row) {
    if (row !== this.hovered) {
      this.hovered = row;
      this.light();
    }
  },

  hoverFlame(row, event) {
    if (row !== this.hovered) {
      this.hovered = row;
      this.flame.later();
      this.light();
    }
    this.tip(row < 0 ? null : this.spoken(row).replace(": ", "\n").replaceAll("; ", "\n"), event);
  },

  // Shows a text next to the pointer; null hides it.
  tip(text, event) {
    const tip = byId("tip");
    tip.hidden = text === null;
    if (text !== null) {
      tip.textContent = text;
      const { innerWidth, innerHeight } = window;
      tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
      tip.style.top = `${Math.min(event.clientY + 18, innerHeight - tip.offsetHeight - 8)}px`;
    }
  },
});
