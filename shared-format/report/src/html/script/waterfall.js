// The trace of a slow call: time goes to the right, callees are below their callers. Only the visible part is drawn.

const AXIS_HEIGHT = 24;
// Minimum distance between two marks of the axis, in pixels.
const BETWEEN_MARKS = 110;
// Adjacent calls of one path that are narrower than this are drawn as one.
const FEW_PIXELS = 3;
// Minimum length of the shown time, in nanoseconds.
const NEAREST_NS = 20;
const CLOSER = 0.5;
const STEP_ASIDE = 0.25;
// Minimum movement of the pointer that is a drag, in pixels.
const DRAG_PIXELS = 4;

class Waterfall extends Drawn {
  // The owner provides `label(fn)`, `colours`, `hover(text, event)` and `click(fn)`.
  constructor(place, canvas, owner) {
    super();
    Object.assign(this, { place, canvas, owner, lines: [], drawn: [], call: null, from: 0, to: 1, top: 0 });
    place.addEventListener("keydown", (event) => this.key(event));
    place.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    place.addEventListener("pointerdown", (event) => this.press(event));
    place.addEventListener("pointermove", (event) => this.move(event));
    place.addEventListener("pointerup", (event) => this.release(event));
    place.addEventListener("pointercancel", () => {
      this.drag = null;
    });
    place.addEventListener("pointerleave", () => owner.hover(null));
    place.addEventListener("dblclick", (event) => {
      const box = this.at(event);
      if (box) {
        this.show(box.begin, box.begin + box.ns);
      }
    });
    place.addEventListener("focus", () => this.later());
    place.addEventListener("blur", () => this.later());
    new ResizeObserver(() => this.later()).observe(place);
  }

  // Shows the trace of a call. `paths` has function and depth of each path.
  open(call, paths) {
    this.call = call;
    this.lines = [];
    const own = new Map(call ? call.own : []);
    const spans = (call && call.spans) || [];
    for (let at = 0; at < spans.length; at += 4) {
      const [path, begin, ns, calls] = spans.slice(at, at + 4);
      const [fn, depth] = paths[path];
      const share = call.ns > 0 ? (own.get(path) || 0) / call.ns : 0;
      (this.lines[depth] = this.lines[depth] || []).push({ path, fn, depth, begin, ns, calls, share });
    }
    // A depth without spans is an empty line.
    this.lines = Array.from(this.lines, (line) => line || []);
    const most = Math.max(0, ...[...own.values()].map((ns) => ns / Math.max(call.ns, 1)));
    this.most = most;
    [this.from, this.to, this.top] = [0, this.whole, 0];
    this.place.style.height = `${this.lines.length * LEVEL_HEIGHT + AXIS_HEIGHT + 2}px`;
    this.later();
  }

  get whole() {
    return Math.max(this.call ? this.call.ns : 1, 1);
  }

  get shownLines() {
    return Math.max(Math.floor((this.place.clientHeight - AXIS_HEIGHT) / LEVEL_HEIGHT), 1);
  }

  // Shows a part of the call's time.
  show(from, to) {
    const length = Math.min(Math.max(to - from, Math.min(NEAREST_NS, this.whole)), this.whole);
    this.from = Math.min(Math.max(from, 0), this.whole - length);
    this.to = this.from + length;
    this.later();
  }

  // Zooms; the time `around` stays where it is.
  zoom(factor, around = (this.from + this.to) / 2) {
    const length = Math.max((this.to - this.from) * factor, Math.min(NEAREST_NS, this.whole));
    const part = (around - this.from) / (this.to - this.from);
    this.show(around - part * length, around + (1 - part) * length);
  }

  // Moves by `parts` of the shown time.
  pan(parts) {
    const by = (this.to - this.from) * parts;
    this.show(this.from + by, this.to + by);
  }

  scroll(lines) {
    this.top = Math.min(Math.max(this.top + lines, 0), Math.max(this.lines.length - this.shownLines, 0));
    this.later();
  }

  timeAt(event) {
    const { left, width } = this.canvas.getBoundingClientRect();
    return this.from + ((event.clientX - left) / Math.max(width, 1)) * (this.to - this.from);
  }

  at(event) {
    const { left, top } = this.canvas.getBoundingClientRect();
    const x = event.clientX - left;
    const line = Math.floor((event.clientY - top - AXIS_HEIGHT) / LEVEL_HEIGHT);
    return event.clientY - top < AXIS_HEIGHT ? undefined : (this.drawn[line] || []).find((box) => x >= box.x && x < box.x + box.width);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const keys = {
      "+": () => this.zoom(CLOSER),
      "=": () => this.zoom(CLOSER),
      "-": () => this.zoom(1 / CLOSER),
      0: () => this.show(0, this.whole),
      Home: () => this.show(0, this.to - this.from),
      End: () => this.show(this.whole, this.whole + this.to - this.from),
      ArrowLeft: () => this.pan(-STEP_ASIDE),
      ArrowRight: () => this.pan(STEP_ASIDE),
      ArrowUp: () => this.scroll(-1),
      ArrowDown: () => this.scroll(1),
    };
    if (Object.hasOwn(keys, event.key)) {
      keys[event.key]();
      event.preventDefault();
    }
  }

  wheel(event) {
    if (event.ctrlKey || !this.call) {
      return;
    }
    event.preventDefault();
    // If shift is pressed, some browsers report the wheel as sideways, others do not.
    const aside = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this.pan(Math.sign(aside) * (STEP_ASIDE / 2));
    } else if (event.deltaY !== 0) {
      this.zoom(event.deltaY < 0 ? 0.8 : 1.25, this.timeAt(event));
    }
  }

  press(event) {
    if (event.button === 0) {
      this.drag = { x: event.clientX, y: event.clientY, from: this.from, to: this.to, top: this.top, moved: false };
    }
  }

  move(event) {
    const { drag } = this;
    if (drag) {
      const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
      if (!drag.moved && Math.hypot(dx, dy) >= DRAG_PIXELS) {
        drag.moved = true;
        this.place.setPointerCapture(event.pointerId);
      }
      if (drag.moved) {
        const by = (dx / Math.max(this.place.clientWidth, 1)) * (drag.to - drag.from);
        this.show(drag.from - by, drag.to - by);
        this.top = drag.top;
        this.scroll(-Math.round(dy / LEVEL_HEIGHT));
        this.owner.hover(null);
        return;
      }
    }
    const box = this.at(event);
    this.owner.hover(box ? this.told(box, this.timeAt(event)) : null, event);
  }

  release(event) {
    const { drag } = this;
    this.drag = null;
    const box = drag && !drag.moved ? this.at(event) : undefined;
    if (box && box.fn !== undefined) {
      this.owner.click(box.fn);
    }
  }

  // Text about a box, line by line.
  told({ fn, calls, begin, ns, path, depth, text }, time) {
    if (text) {
      return text;
    }
    const off = (this.call.off || []).filter((off) => off[0] === depth && off[1] <= time && time < off[2]);
    const waits = off.map(([, , , waits, ready]) => Waterfall.offText(waits, ready));
    const own = (this.call.own.find(([of]) => of === path) || [0, 0])[1];
    const many = calls > 1 ? `${count(calls)} calls in ${shortTime(ns)}` : shortTime(ns);
    return [
      this.owner.label(fn),
      `${many}, from ${shortTime(begin)} on`,
      `in this path itself ${shortTime(own)} of the call, ${percent(own / this.whole)}`,
      ...waits,
    ].join("\n");
  }

  static offText(waits, ready) {
    return [waits > 0 ? `waits ${shortTime(waits)}` : "", ready > 0 ? `no CPU for ${shortTime(ready)}` : ""].filter(Boolean).join(", ");
  }

  // The boxes of a line: its visible spans. Narrow adjacent spans of one path share a box.
  boxes(line, width) {
    const scale = width / (this.to - this.from);
    const boxes = [];
    // Finds the first span that ends after the left edge; spans of a line do not overlap.
    const first = firstIndex(line.length, (at) => line[at].begin + line[at].ns < this.from);
    for (let at = first; at < line.length && line[at].begin <= this.to; at++) {
      const span = line[at];
      const left = Math.max((span.begin - this.from) * scale, 0);
      const right = Math.min((span.begin + span.ns - this.from) * scale, width);
      const narrow = right - left < FEW_PIXELS;
      const last = boxes[boxes.length - 1];
      if (last && narrow && last.narrow && last.path === span.path && left <= last.x + last.width + 1) {
        last.width = Math.max(right - last.x, last.width);
        last.calls += span.calls;
        last.ns = span.begin + span.ns - last.begin;
      } else if (!last || !narrow || right - left >= NARROWEST || left >= last.x + last.width) {
        boxes.push({ ...span, x: left, width: Math.max(right - left, NARROWEST), narrow });
      }
    }
    return boxes;
  }

  draw() {
    this.start();
    const { clientWidth: width, clientHeight: height } = this.place;
    if (width === 0 || height === 0) {
      return;
    }
    const context = contextOf(this.canvas, width, height);
    this.drawn = this.lines.slice(this.top, this.top + this.shownLines).map((line) => this.boxes(line, width));
    if (!context) {
      return;
    }
    this.colours = this.owner.colours(this.most);
    this.drawn.forEach((boxes, line) => boxes.forEach((box) => this.box(context, box, AXIS_HEIGHT + line * LEVEL_HEIGHT)));
    const call = this.call || {};
    (call.off || []).forEach((off) => this.off(context, off, width));
    if (call.gap) {
      const [begin, end, steps] = call.gap;
      this.stretch(context, { depth: 1, begin, end, text: `${count(steps)} steps left out`, width });
    }
    this.axis(context, width);
    (call.notes || []).forEach(([at, text], index) => this.note(context, at, width));
  }

  box(context, { fn, x, width, share, calls, ns }, y) {
    const inner = width - (width > 4 ? 1 : 0);
    context.fillStyle = this.colours.heat(share, 0.12);
    context.fillRect(x, y, inner, LEVEL_HEIGHT - 1);
    if (width > 28) {
      context.fillStyle = this.colours.on(share);
      const many = calls > 1 ? ` ×${count(calls)}` : "";
      const text = `${this.owner.label(fn)}${many}  ${shortTime(ns)}`;
      context.fillText(fitted(context, text, width - 12), x + 6, y + LEVEL_HEIGHT / 2);
    }
  }

  // When in this step it was off the CPU is unknown; it is drawn at the end.
  off(context, [depth, , end, waits, ready], width) {
    this.stretch(context, { depth, begin: end - waits - ready, end, text: Waterfall.offText(waits, ready), width });
  }

  // Draws a hatched part, in which the call did not run.
  stretch(context, { depth, begin, end, text, width }) {
    const scale = width / (this.to - this.from);
    const [left, right] = [Math.max((begin - this.from) * scale, 0), Math.min((end - this.from) * scale, width)];
    const line = depth - this.top;
    if (line < 0 || line >= this.shownLines || right - left < NARROWEST) {
      return;
    }
    const y = AXIS_HEIGHT + line * LEVEL_HEIGHT;
    const high = LEVEL_HEIGHT - 1;
    context.save();
    context.beginPath();
    context.rect(left, y, right - left, high);
    context.clip();
    context.fillStyle = this.colours.neutral;
    context.fillRect(left, y, right - left, high);
    context.strokeStyle = this.colours.ground;
    context.lineWidth = 2;
    context.beginPath();
    // Hatches stay where they are in the page if the call moves.
    for (let x = left - (left % 8) - high; x < right; x += 8) {
      context.moveTo(x, y + high);
      context.lineTo(x + high, y);
    }
    context.stroke();
    const room = right - left - 12;
    const said = room > 40 ? fitted(context, text, room) : "";
    if (said) {
      const wide = context.measureText(said).width;
      const x = left + (right - left - wide) / 2;
      context.fillStyle = this.colours.neutral;
      context.fillRect(x - 6, y, wide + 12, high);
      context.fillStyle = this.colours.text;
      context.fillText(said, x, y + LEVEL_HEIGHT / 2);
    }
    context.restore();
  }

  axis(context, width) {
    const marks = Math.max(Math.floor(width / BETWEEN_MARKS), 1);
    context.fillStyle = this.colours.quiet;
    context.strokeStyle = this.colours.line;
    context.lineWidth = 1;
    for (let mark = 0; mark < marks; mark++) {
      const x = (width * mark) / marks;
      context.beginPath();
      context.moveTo(x + 0.5, 4);
      context.lineTo(x + 0.5, AXIS_HEIGHT);
      context.stroke();
      context.fillText(shortTime(this.from + ((this.to - this.from) * mark) / marks), x + 5, AXIS_HEIGHT / 2);
    }
    const hidden = this.lines.length - this.top - this.shownLines;
    const text = hidden > 0 ? `${hidden} lines below` : shortTime(this.to);
    const wide = context.measureText(text).width;
    if (wide + 60 < width / marks) {
      context.fillText(text, width - wide - 4, AXIS_HEIGHT / 2);
    }
  }

  // Draws a note as a line through the call. Its text is in the list of calls.
  note(context, at, width) {
    const x = ((at - this.from) / (this.to - this.from)) * width;
    if (x < 0 || x > width) {
      return;
    }
    context.fillStyle = this.colours.accent;
    context.fillRect(x, AXIS_HEIGHT - 6, 1.5, this.shownLines * LEVEL_HEIGHT + 6);
    context.beginPath();
    context.moveTo(x - 4, AXIS_HEIGHT - 7);
    context.lineTo(x + 5, AXIS_HEIGHT - 7);
    context.lineTo(x + 0.5, AXIS_HEIGHT - 1);
    context.fill();
  }
}

function shortTime(ns) {
  return duration(Math.max(Math.round(ns), 0));
}
