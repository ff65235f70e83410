// Activity of threads over a recording, one line per thread. In each slot, a bar in the colour of its main function shows how
// much the thread worked; above it, grey is waiting. Gaps between slots are unknown.

// The first `SLOT_ENDS` letters end a number; other letters are digits before its end.
const SLOT_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_!#$%()*+,./:;?@[]^`{|}";
const SLOT_ENDS = 64;
// Maximum number of functions in the legend above the lines.
const TIMELINE_LEGEND = 10;
const LANE_HEIGHT = 30;
const AXIS_STEPS_S = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];
const AXIS_LABEL_PIXELS = 70;
const SLOT_PAGE = 10;

class TimelineView extends Drawn {
  // The owner provides `tip(text, event)`, `showFunction(fn)`, the profile and names.
  constructor(place, owner) {
    super();
    Object.assign(this, { place, owner, row: 0, slot: 0, hovered: null });
    this.data = owner.profile.data.timeline;
    byId("tab-timeline").hidden = !this.data;
    if (!this.data) {
      return;
    }
    this.lanes = place.querySelector(".lanes");
    this.said = place.querySelector(".said");
    this.loads = this.data.slots.map((text) => this.read(text));
    this.all = this.data.all.map((text) => this.read(text)[0]);
    this.slot = Math.max(this.data.begin.length - 1, 0);
    this.fill();
    this.listen();
  }

  // Parses the letters of slots; null for slots in which the thread did nothing.
  read(text) {
    let at = 0;
    const number = () => {
      let [value, unit] = [0, 1];
      for (;;) {
        const letter = SLOT_LETTERS.indexOf(text[at++]);
        if (letter < SLOT_ENDS) {
          return value + letter * unit;
        }
        value += (letter - SLOT_ENDS) * unit;
        unit *= SLOT_LETTERS.length - SLOT_ENDS;
      }
    };
    const loads = [];
    while (at < text.length) {
      if (text[at] === " " || text[at] === "=") {
        loads.push(text[at++] === "=" ? loads[loads.length - 1] : null);
        continue;
      }
      const load = { working: number(), waiting: number(), functions: [], waitsIn: -1 };
      for (let left = number(); left > 0; left--) {
        load.functions.push([number(), number()]);
      }
      if (load.waiting > 0) {
        load.waitsIn = number() - 1;
      }
      loads.push(load);
    }
    return loads;
  }

  label(at) {
    const { profile } = this.owner;
    return profile.label(this.data.functions[at]);
  }

  fill() {
    const { data } = this;
    const legend = this.place.querySelector(".colours");
    const key = (name, className) => {
      const made = element("span", "key");
      const sample = element("span", `sample ${className}`);
      made.append(sample, name);
      return [made, sample];
    };
    this.samples = data.functions.slice(0, TIMELINE_LEGEND).map((fn, at) => {
      const button = element("button", "link", this.label(at));
      button.type = "button";
      button.title = "Show it in the tree";
      button.addEventListener("click", () => this.owner.showFunction(fn));
      const [made, sample] = key(button, "");
      legend.append(made, " ");
      return sample;
    });
    if (data.waits) {
      legend.append(key("waiting, or no CPU free", "waiting")[0], " ");
    }
    const more = data.functions.length - this.samples.length;
    if (more > 0) {
      legend.append(element("span", "key", `${more} more functions`));
    }
    const axis = element("div", "lane axis");
    axis.setAttribute("aria-hidden", "true");
    axis.append(element("span", "thread"), element("canvas"));
    this.rows = data.thread.map((name, row) => {
      const lane = element("div", "lane");
      lane.id = `lane-${row}`;
      lane.setAttribute("role", "option");
      lane.setAttribute("aria-label", this.summary(row));
      const label = element("span", "thread");
      const named = element("b", "", name);
      named.title = name;
      label.append(named, element("small", "", this.parts(this.all[row], true)));
      lane.append(label, element("canvas"));
      lane.dataset.row = row;
      return lane;
    });
    this.axis = axis.querySelector("canvas");
    this.moment = element("div", "moment");
    this.moment.setAttribute("aria-hidden", "true");
    this.lanes.replaceChildren(axis, ...this.rows, this.moment);
    this.lanes.hidden = this.rows.length === 0;
    const hint = this.place.querySelector(".left-out");
    const nothing = this.rows.length === 0;
    hint.hidden = !nothing && data.left_out === 0;
    hint.textContent = nothing ? "No thread was in a measured function." : `${digits(data.left_out)} more threads, which worked less`;
  }

  listen() {
    const { lanes } = this;
    lanes.addEventListener("keydown", (event) => this.key(event));
    lanes.addEventListener("focus", () => this.choose(this.row, this.slot));
    lanes.addEventListener("mousemove", (event) => this.hover(event));
    lanes.addEventListener("mouseleave", () => this.hover(null));
    lanes.addEventListener("click", (event) => {
      const found = this.at(event);
      if (found && found.slot >= 0) {
        this.choose(found.row, found.slot);
      }
    });
    new ResizeObserver(() => this.later()).observe(lanes);
  }

  // Thread and slot at a position; the slot is -1 in a gap.
  at(event) {
    const lane = event.target.closest(".lane");
    if (!lane || lane.dataset.row === undefined) {
      return null;
    }
    const { left, width } = lane.lastChild.getBoundingClientRect();
    const ms = ((event.clientX - left) / Math.max(width, 1)) * this.data.ms;
    if (ms < 0 || ms > this.data.ms) {
      return null;
    }
    return { row: Number(lane.dataset.row), slot: this.slotAt(ms) };
  }

  slotAt(ms) {
    const { begin, length } = this.data;
    const slot = firstIndex(begin.length, (at) => begin[at] + length[at] < ms);
    return slot < begin.length && begin[slot] <= ms ? slot : -1;
  }

  hover(event) {
    const found = event && this.at(event);
    if (!found) {
      this.owner.tip(null);
    } else {
      this.owner.tip(found.slot < 0 ? "No records of this time" : this.told(found.row, found.slot).join("\n"), event);
    }
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const [rows, slots] = [this.rows.length, this.data.begin.length];
    const moves = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      PageUp: [0, -SLOT_PAGE],
      PageDown: [0, SLOT_PAGE],
      Home: [0, -slots],
      End: [0, slots],
    };
    if (Object.hasOwn(moves, event.key) && rows > 0) {
      const [down, right] = moves[event.key];
      const within = (value, most) => Math.min(Math.max(value, 0), most - 1);
      this.choose(within(this.row + down, rows), within(this.slot + right, slots));
      this.rows[this.row].scrollIntoView({ block: "nearest" });
      event.preventDefault();
    }
  }

  choose(row, slot) {
    if (this.rows.length === 0) {
      return;
    }
    Object.assign(this, { row, slot });
    this.rows.forEach((lane, at) => {
      lane.classList.toggle("current", at === row);
      lane.setAttribute("aria-selected", at === row);
    });
    this.lanes.setAttribute("aria-activedescendant", this.rows[row].id);
    const [first, ...rest] = this.told(row, slot);
    this.said.replaceChildren(element("b", "", first), ...rest.map((text) => element("span", "", text)));
    this.mark();
  }

  // Marks the chosen slot in all lines.
  mark() {
    const canvas = this.rows.length > 0 && this.rows[this.row].lastChild;
    const width = canvas ? canvas.clientWidth : 0;
    this.moment.hidden = width === 0;
    if (width > 0) {
      const { begin, length, ms } = this.data;
      const left = canvas.offsetLeft + (begin[this.slot] / ms) * width;
      const wide = Math.max((length[this.slot] / ms) * width, 2);
      const [first, last] = [this.rows[0], this.rows[this.rows.length - 1]];
      Object.assign(this.moment.style, {
        left: `${left}px`,
        width: `${wide}px`,
        top: `${first.offsetTop}px`,
        height: `${last.offsetTop + last.offsetHeight - first.offsetTop}px`,
      });
    }
  }

  // Text about a slot, line by line.
  told(row, slot) {
    const { data } = this;
    const from = data.begin[slot];
    const seconds = (ms) => `${(ms / 1000).toFixed(data.length[slot] < 1000 ? 1 : 0)} s`;
    const clock = new Date(data.began_ms + from).toISOString().slice(11, 19);
    const load = this.loads[row][slot];
    return [
      `${data.thread[row]}, ${seconds(from)} to ${seconds(from + data.length[slot])}`,
      load ? this.parts(load, false) : "not in measured functions",
      ...(load ? this.functionsOf(load) : []),
      `${clock} UTC`,
    ];
  }

  // Formats how much a thread worked and waited.
  parts({ working, waiting, waitsIn }, isShort) {
    const some = (part) => (part === 0 ? "<1 %" : `${part} %`);
    const { waits } = this.data;
    if (isShort) {
      return waits && waiting > 0 ? `${some(working)}, waits ${some(waiting)}` : some(working);
    }
    const where = waitsIn >= 0 ? `, most of it in ${this.label(waitsIn)}` : "";
    const works = `${waits ? "working" : "in measured functions"} ${some(working)} of the time`;
    return waits ? `${works}, waiting ${waiting} %${where}` : works;
  }

  functionsOf(load) {
    return load.functions.map(([fn, share]) => `${this.label(fn)} ${share === 0 ? "<1 %" : `${share} %`}`);
  }

  summary(row) {
    const load = this.all[row];
    const functions = this.functionsOf(load);
    const most = functions.length > 0 ? `; most in ${functions.join(", ")}` : "";
    return `${this.data.thread[row]}: ${this.parts(load, false)}${most}`;
  }

  draw() {
    this.start();
    if (!this.data || this.rows.length === 0) {
      return;
    }
    const style = getComputedStyle(this.place);
    const isDark = getComputedStyle(document.documentElement).colorScheme === "dark";
    // On a light background, colours are darker.
    const fill = (colour) => `rgb(${rgb(`#${colour}`).map((part) => Math.round(part * (isDark ? 1 : 0.86))).join(" ")})`;
    this.fills = this.data.colour.map(fill);
    this.samples.forEach((sample, at) => (sample.style.background = this.fills[at]));
    const colours = Object.fromEntries(["neutral", "line", "quiet", "accent"].map((name) => [name, style.getPropertyValue(`--${name}`)]));
    this.rows.forEach((lane, row) => this.drawLane(lane.lastChild, this.loads[row], colours));
    this.drawAxis(colours);
    this.choose(this.row, this.slot);
  }

  drawLane(canvas, loads, colours) {
    const width = Math.floor(canvas.parentElement.getBoundingClientRect().right - canvas.getBoundingClientRect().left);
    const context = width > 0 ? contextOf(canvas, width, LANE_HEIGHT) : null;
    if (!context) {
      return;
    }
    const { begin, length, ms } = this.data;
    const scale = width / ms;
    const pixel = 1 / (window.devicePixelRatio || 1);
    const snap = (x) => Math.round(x / pixel) * pixel;
    // If slots are wide, there is a gap between them.
    const apart = (ms / begin.length) * scale >= 8 ? 1 : 0;
    const high = LANE_HEIGHT - 2;
    begin.forEach((from, slot) => {
      const left = snap(from * scale);
      const wide = Math.max(snap((from + length[slot]) * scale) - left - apart, pixel);
      context.fillStyle = colours.line;
      context.fillRect(left, LANE_HEIGHT - 1, wide + apart, 1);
      const load = loads[slot];
      if (!load) {
        return;
      }
      const part = (percent) => (Math.min(percent, 100) / 100) * high;
      const works = load.functions.length > 0 || load.working > 0 ? Math.max(part(load.working), 1.5) : 0;
      const waits = Math.min(part(load.waiting), high - works);
      context.fillStyle = load.functions.length > 0 ? this.fills[load.functions[0][0]] : colours.quiet;
      context.fillRect(left, LANE_HEIGHT - 1 - works, wide, works);
      context.fillStyle = colours.neutral;
      context.fillRect(left, LANE_HEIGHT - 1 - works - waits, wide, waits);
    });
  }

  drawAxis({ quiet, line }) {
    const canvas = this.axis;
    const width = this.rows[0].lastChild.clientWidth;
    const context = width > 0 ? contextOf(canvas, width, AXIS_HEIGHT) : null;
    if (!context) {
      return;
    }
    const all = this.data.ms / 1000;
    const step = AXIS_STEPS_S.find((step) => (step / all) * width >= AXIS_LABEL_PIXELS) || all;
    for (let at = 0; at * step <= all; at++) {
      const x = Math.min(((at * step) / all) * width, width - 1);
      const text = TimelineView.mark(at * step, step);
      context.fillStyle = line;
      context.fillRect(Math.floor(x), 4, 1, AXIS_HEIGHT);
      context.fillStyle = quiet;
      if (x + context.measureText(text).width + 5 <= width) {
        context.fillText(text, x + 4, AXIS_HEIGHT / 2);
      }
    }
  }

  // Formats a time on the axis: `0.5 s`, `1:30`, `1:00:00`.
  static mark(seconds, step) {
    if (step < 1) {
      return `${seconds.toFixed(1)} s`;
    }
    const two = (value) => String(Math.floor(value)).padStart(2, "0");
    const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
    return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
  }
}
