// The flame graph: callees below their callers, each as wide as its share of the time. Only visible frames are drawn.

const LEVEL_HEIGHT = 22;
// Minimum width of a frame in pixels. Narrower ones are not drawn.
const NARROWEST = 0.6;

// Gives a canvas this size in the screen's pixels, and returns its context.
function contextOf(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  if (context) {
    context.scale(scale, scale);
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
  }
  return context;
}

// A part of the page. It is drawn at most once per animation frame.
class Drawn {
  later() {
    if (!this.pending) {
      this.pending = requestAnimationFrame(() => this.draw());
    }
  }

  // Cancels pending requests, because drawing begins.
  start() {
    cancelAnimationFrame(this.pending);
    this.pending = 0;
  }
}

class Flame extends Drawn {
  constructor(place, canvas, said, owner) {
    super();
    this.place = place;
    this.canvas = canvas;
    this.said = said;
    this.owner = owner;
    this.zoomed = -1;
    this.boxes = [];
    this.hovered = -1;
    place.addEventListener("scroll", () => this.later(), { passive: true });
    place.addEventListener("keydown", (event) => this.key(event));
    place.addEventListener("mousemove", (event) => owner.hoverFlame(this.at(event), event));
    place.addEventListener("mouseleave", () => owner.hoverFlame(-1));
    place.addEventListener("click", (event) => {
      const row = this.at(event);
      if (row >= 0) {
        owner.select(row);
      }
    });
    place.addEventListener("dblclick", (event) => this.zoom(this.at(event)));
    place.addEventListener("focus", () => this.later());
    place.addEventListener("blur", () => this.later());
    new ResizeObserver(() => this.later()).observe(place);
  }

  // Makes the frame of `row` as wide as the page; -1 zooms out completely.
  zoom(row) {
    this.zoomed = row;
    this.owner.zoomed(row);
    this.draw();
  }

  // Zooms out to the next row above.
  out() {
    const { tree } = this.owner;
    if (this.zoomed < 0) {
      return false;
    }
    this.zoom(tree.parent[this.zoomed]);
    return true;
  }

  at(event) {
    const { left, top } = this.canvas.getBoundingClientRect();
    const x = event.clientX - left;
    const level = Math.floor((event.clientY - top + this.place.scrollTop) / LEVEL_HEIGHT);
    const box = (this.boxes[level] || []).find((box) => x >= box.x && x < box.x + box.width);
    return box ? box.row : -1;
  }

  // Computes the boxes, level by level. Siblings are sorted by width, widest first.
  arrange(width) {
    const { tree } = this.owner;
    const boxes = [[{ row: -1, x: 0, width }]];
    const put = (level, row, x, width) => {
      (boxes[level] = boxes[level] || []).push({ row, x, width });
    };
    const above = this.zoomed < 0 ? [] : tree.path(this.zoomed);
    above.forEach((row, depth) => put(depth + 1, row, 0, width));
    const stack = [{ row: this.zoomed, x: 0, width, level: above.length }];
    while (stack.length > 0) {
      const { row, x, width, level } = stack.pop();
      const total = row < 0 ? tree.measured : tree.total[row];
      let left = x;
      for (const child of this.owner.widestFirst(row)) {
        const wide = total === 0 ? 0 : (tree.total[child] / total) * width;
        if (wide < NARROWEST) {
          break;
        }
        put(level + 1, child, left, wide);
        stack.push({ row: child, x: left, width: wide, level: level + 1 });
        left += wide;
      }
    }
    this.boxes = boxes;
  }

  draw() {
    this.start();
    const { clientWidth: width, clientHeight: height } = this.place;
    if (width === 0 || height === 0) {
      return;
    }
    this.arrange(width);
    this.canvas.style.height = `${height}px`;
    this.canvas.nextElementSibling.style.height = `${Math.max(0, this.boxes.length * LEVEL_HEIGHT - height)}px`;
    // The new height may have added or removed a scroll bar.
    const narrower = this.place.clientWidth;
    if (narrower !== width) {
      this.arrange(narrower);
    }
    this.paint(narrower, height);
  }

  paint(width, height) {
    const context = contextOf(this.canvas, width, height);
    if (!context) {
      return;
    }
    context.translate(0, -this.place.scrollTop);
    const first = Math.floor(this.place.scrollTop / LEVEL_HEIGHT);
    const last = Math.ceil((this.place.scrollTop + height) / LEVEL_HEIGHT);
    const lit = new Set(this.owner.lit());
    for (let level = first; level <= Math.min(last, this.boxes.length - 1); level++) {
      for (const box of this.boxes[level]) {
        this.box(context, box, level * LEVEL_HEIGHT, lit);
      }
    }
    this.say();
  }

  box(context, { row, x, width }, y, lit) {
    const { colours } = this.owner;
    const dim = this.owner.isDim(row);
    const [fill, ink] = this.owner.fillOf(row);
    // If there is space, leaves a gap before the next box.
    const inner = width - (width > 4 ? 1 : width / 4);
    context.fillStyle = fill;
    context.globalAlpha = dim ? 0.25 : 1;
    context.fillRect(x, y, inner, LEVEL_HEIGHT - 1);
    const isLit = lit.has(row);
    if (isLit) {
      context.globalAlpha = 1;
      context.fillStyle = colours.accent;
      context.fillRect(x, y + LEVEL_HEIGHT - 4, inner, 3);
    }
    if (row === this.owner.selected) {
      // A thicker line shows that the flame graph has the focus.
      const line = document.activeElement === this.place ? 3 : 1.5;
      context.strokeStyle = colours.text;
      context.lineWidth = line;
      context.strokeRect(x + line / 2, y + line / 2, Math.max(inner - line, 1), LEVEL_HEIGHT - 1 - line);
    }
    context.globalAlpha = dim ? 0.5 : 1;
    if (width > 28) {
      context.fillStyle = ink;
      const text = row < 0 ? this.owner.everything() : this.owner.flameText(row);
      context.fillText(fitted(context, text, width - 12), x + 6, y + LEVEL_HEIGHT / 2);
    }
    context.globalAlpha = 1;
  }

  // A canvas has no text, so screen readers get the selected row from here.
  say() {
    const row = this.owner.selected;
    this.said.textContent = row < 0 ? this.owner.everything() : this.owner.spoken(row);
    this.said.setAttribute("aria-level", row < 0 ? 1 : this.owner.tree.depth[row] + 2);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const { tree, selected } = this.owner;
    const siblings = this.owner.widestFirst(selected < 0 ? -1 : tree.parent[selected]);
    const at = siblings.indexOf(selected);
    const below = selected < 0 ? tree.top : this.owner.widestFirst(selected);
    const moves = {
      ArrowDown: () => (selected < 0 ? this.owner.widestFirst(-1)[0] : below[0]),
      ArrowUp: () => (selected < 0 ? undefined : tree.parent[selected]),
      ArrowRight: () => siblings[at + 1],
      ArrowLeft: () => siblings[at - 1],
      Home: () => -1,
    };
    if (event.key in moves) {
      const to = moves[event.key]();
      if (to !== undefined) {
        this.owner.select(to);
        this.reveal();
      }
    } else if (event.key === "Enter") {
      this.zoom(selected);
    } else if (event.key === "Backspace") {
      this.out();
    } else {
      return;
    }
    event.preventDefault();
  }

  // Zooms until the selected row is drawn, and scrolls to its level.
  reveal() {
    const { tree, selected } = this.owner;
    const path = selected < 0 ? [] : tree.path(selected);
    const isDrawn = () => this.boxes.some((level) => level.some(({ row }) => row === selected));
    for (const row of selected < 0 ? [-1] : [tree.parent[selected], selected]) {
      if (!isDrawn()) {
        this.zoom(row);
      }
    }
    const top = path.length * LEVEL_HEIGHT;
    if (top < this.place.scrollTop) {
      this.place.scrollTop = top;
    } else if (top + LEVEL_HEIGHT > this.place.scrollTop + this.place.clientHeight) {
      this.place.scrollTop = top + LEVEL_HEIGHT - this.place.clientHeight;
    }
  }
}

// Returns as much of the text as fits into this width.
function fitted(context, text, width) {
  if (context.measureText(text).width <= width) {
    return text;
  }
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low < 2 ? "" : `${text.slice(0, low)}…`;
}
