// The profile: threads merged by path, sums by function, callers and callees.

// The data of the page, prepared for the tables.
class Profile {
  constructor(data) {
    this.data = data;
    this.functions = data.label.length;
    const rows = data.up.length;
    this.parent = new Int32Array(rows);
    this.fn = new Int32Array(rows);
    this.thread = new Int32Array(rows);
    for (let node = 0; node < rows; node++) {
      this.parent[node] = data.up[node] === 0 ? -1 : node - data.up[node];
      this.fn[node] = data.function_of_site[data.site[node]];
    }
    let first = 0;
    data.thread_rows.forEach((count, thread) => {
      this.thread.fill(thread, first, first + count);
      first += count;
    });
    this.latency = new Map(data.latencies.map((row) => [row[0], Histogram.of(row)]));
    this.choose(data.by);
    this.openings = new Uint32Array(rows);
    data.open.forEach((node) => this.openings[node]++);
    this.errors = new Map(data.errors);
    this.tallies = new Map((data.counters || []).map(([node, sum]) => [node, new Tally("counter", sum)]));
    for (const [kind, rows] of [["value", data.values], ["gauge", data.gauges]]) {
      (rows || []).forEach((row) => this.tallies.set(row[0], Tally.of(kind, this.tallies.get(row[0]).sum, row)));
    }
    // By node: ended calls of a future, and their wall time.
    this.futures = new Map((data.futures || []).map(([node, over, wall]) => [node, [over, wall]]));
    // By node: nanoseconds of self time in uncounted calls, from samples.
    this.sampled = new Map(data.sampled || []);
    // By node: waiting and ready nanoseconds, parts of its self time. They do not depend on the measure.
    this.offCpu = new Map((data.off_cpu || []).map(([node, waiting, ready]) => [node, [waiting, ready]]));
    // By node: system calls in which threads waited, with the number of samples.
    this.waitsIn = new Map();
    (data.waits_in || []).forEach(([node, call, samples]) => {
      const known = this.waitsIn.get(node) || [];
      this.waitsIn.set(node, [...known, [data.waiting_calls[call], samples]]);
    });
  }

  // Chooses the measure for shares and order by its number. Each count has its own estimates.
  choose(by) {
    const { data } = this;
    const [name, summed, dimension, self = data.self_ns, outside = data.thread_outside_ns, counts = []] = data.measures[by];
    Object.assign(this, { by, measure: name, summed, dimension, self, outside });
    this.estimate = new Map((dimension === "time" ? data.estimates : counts).map((row) => [row[0], row]));
    this.total = Float64Array.from(self);
    for (let node = self.length - 1; node >= 0; node--) {
      if (this.parent[node] >= 0) {
        this.total[this.parent[node]] += this.total[node];
      }
    }
  }

  // Returns the part of a row's total that belongs to counted calls. Sampled time is CPU time.
  counted(row) {
    return ["time", "working"].includes(this.measure) ? row.total - row.sampled : row.total;
  }

  // Formats a value of the chosen measure.
  value(value) {
    return { time: duration, count, bytes }[this.dimension](value);
  }

  // Formats the mean value per call.
  mean(value, calls) {
    if (this.dimension === "time") {
      return duration(BigInt(value) / BigInt(calls));
    }
    return quotient(value, calls) + (this.dimension === "bytes" ? "B" : "");
  }

  label(fn) {
    return this.data.label[fn];
  }

  name(fn) {
    return this.data.name[fn] || this.data.label[fn];
  }

  place(fn) {
    return this.data.whole_place[fn] || this.data.place[fn];
  }

  // Text about a function's group; empty without a group.
  group(fn) {
    return this.data.group ? this.data.group[fn] : "";
  }

  nanos(ticks) {
    return Math.round((ticks * 1e9) / this.data.ticks_per_second);
  }

  // Whether calls are so short on average that measuring takes much of their time.
  isDoubtful(total, calls) {
    const { mode, doubtful_below_ns: below } = this.data;
    const unknown = this.by !== 0 || mode === "off" || (mode === "sampled" && total === 0);
    return calls > 0 && !unknown && total < below * calls;
  }
}

// An estimate is rough if its standard error is unknown or above this share of it.
const ROUGH = 0.05;

// Which times are estimates (1: self, 2: total), and the standard errors in ticks or counts.
class Uncertainty {
  constructor() {
    this.bits = 0;
    this.errors = [0, 0];
  }

  // Adds the uncertainty of another self time (1), total time (2), or both (3).
  add(other, which) {
    this.bits |= other.bits & which;
    this.errors = this.errors.map((error, at) => (which & (1 << at) ? Math.hypot(error, other.errors[at]) : error));
  }

  // Returns which times are rough estimates (1: self, 2: total, 3: both).
  rough(profile, own, total) {
    const inTicks = (value) => (profile.dimension === "time" ? (value * profile.data.ticks_per_second) / 1e9 : value);
    const isRough = (value, at) => this.bits & (1 << at) && (this.errors[at] <= 0 || this.errors[at] > ROUGH * inTicks(value));
    return (isRough(own, 0) ? 1 : 0) + (isRough(total, 1) ? 2 : 0);
  }
}

// What the call tree and the bottom-up tree have in common.
class Rows {
  constructor(profile, thread) {
    this.profile = profile;
    this.thread = thread;
    this.histograms = new Map();
  }

  share(ns) {
    return this.measured === 0 ? 0 : ns / this.measured;
  }

  // What is 100 % for a row and its siblings: the parent's total, or all time for rows at the top.
  above(row) {
    return this.parent[row] < 0 ? this.measured : this.total[this.parent[row]];
  }

  // The row and all rows above it, outermost first.
  path(row) {
    const path = [];
    for (let at = row; at >= 0; at = this.parent[at]) {
      path.push(at);
    }
    return path.reverse();
  }

  // Latencies of the finished calls of a row.
  latency(row) {
    let histogram = this.histograms.get(row);
    if (!histogram) {
      histogram = this.latencyOf([row]);
      this.histograms.set(row, histogram);
    }
    return histogram;
  }

  latencyOf(rows) {
    const all = [];
    for (const row of rows) {
      for (const node of this.nodesOf(row)) {
        const histogram = this.profile.latency.get(node);
        if (histogram) {
          all.push(histogram);
        }
      }
    }
    return Histogram.merged(all);
  }

  // Number of timed calls of some rows; null if all calls were timed.
  timedOf(rows) {
    const { data, estimate } = this.profile;
    let [timed, calls] = [0, 0];
    for (const row of rows) {
      for (const node of this.nodesOf(row)) {
        calls += data.calls[node];
        timed += estimate.has(node) ? estimate.get(node)[2] : data.calls[node];
      }
    }
    return timed < calls ? timed : null;
  }
}

// The rows of one thread, or of all threads merged by path. Parents come before children. -1 is no row.
class Tree extends Rows {
  constructor(profile, thread = null) {
    super(profile, thread);
    const all = profile.parent.length;
    const known = new Map();
    const rowOf = new Int32Array(all).fill(-1);
    const parent = [];
    const fn = [];
    for (let node = 0; node < all; node++) {
      if (thread !== null && profile.thread[node] !== thread) {
        continue;
      }
      const above = profile.parent[node] < 0 ? -1 : rowOf[profile.parent[node]];
      const key = (above + 1) * profile.functions + profile.fn[node];
      let row = known.get(key);
      if (row === undefined) {
        row = parent.length;
        known.set(key, row);
        parent.push(above);
        fn.push(profile.fn[node]);
      }
      rowOf[node] = row;
    }
    this.known = known;
    this.length = parent.length;
    this.parent = Int32Array.from(parent);
    this.fn = Int32Array.from(fn);
    this.sum(rowOf);
    this.link();
  }

  sum(rowOf) {
    const { data, self, openings, errors, estimate, tallies, offCpu, futures, sampled } = this.profile;
    const rows = this.length;
    for (const column of ["calls", "self", "total", "open", "errors", "depth", "futures", "over", "wall", "sampled"]) {
      this[column] = new Float64Array(rows);
    }
    // What counters, values and gauges count; null for other rows, which have time.
    this.tally = Array.from({ length: rows }, () => NOTHING);
    // Waiting and ready time, including all rows below.
    this.off = [new Float64Array(rows), new Float64Array(rows)];
    // Waiting and ready time without the rows below.
    this.ownOff = [];
    // Which times are rough estimates (1: self, 2: total, 3: both).
    this.estimated = new Uint8Array(rows);
    this.uncertain = Array.from({ length: rows }, () => new Uncertainty());
    const sizes = new Uint32Array(rows + 1);
    rowOf.forEach((row, node) => {
      if (row < 0) {
        return;
      }
      this.calls[row] += data.calls[node];
      this.self[row] += self[node];
      this.tally[row] = bothTallies(this.tally[row], tallies.get(node) ?? null);
      this.open[row] += openings[node];
      this.errors[row] += errors.get(node) || 0;
      if (estimate.has(node)) {
        const [, bits, , own, total] = estimate.get(node);
        this.uncertain[row].add({ bits, errors: [own, total] }, 3);
      }
      const [over, wall] = futures.get(node) || [0, 0];
      this.futures[row] += futures.has(node) ? 1 : 0;
      this.over[row] += over;
      this.wall[row] += wall;
      this.sampled[row] += sampled.get(node) || 0;
      (offCpu.get(node) || []).forEach((ns, which) => {
        this.off[which][row] += ns;
      });
      sizes[row + 1]++;
    });
    // Nodes are sorted by row.
    for (let row = 0; row < rows; row++) {
      sizes[row + 1] += sizes[row];
    }
    this.firstNode = sizes;
    this.nodes = new Int32Array(sizes[rows]);
    const next = sizes.slice();
    rowOf.forEach((row, node) => {
      if (row >= 0) {
        this.nodes[next[row]++] = node;
      }
    });
    this.total.set(this.self);
    this.ownOff = this.off.map((column) => column.slice());
    for (let row = rows - 1; row >= 0; row--) {
      if (this.parent[row] >= 0) {
        for (const column of [this.total, ...this.off]) {
          column[this.parent[row]] += column[row];
        }
      }
      this.estimated[row] = this.uncertain[row].rough(this.profile, this.self[row], this.total[row]);
    }
  }

  link() {
    this.below = Array.from({ length: this.length }, () => null);
    this.top = [];
    for (let row = 0; row < this.length; row++) {
      const parent = this.parent[row];
      if (parent < 0) {
        this.top.push(row);
      } else {
        this.depth[row] = this.depth[parent] + 1;
        (this.below[parent] = this.below[parent] || []).push(row);
      }
    }
    this.measured = this.top.reduce((sum, row) => sum + this.total[row], 0);
    this.allCalls = this.calls.reduce((sum, calls, row) => sum + (this.tally[row] === null ? calls : 0), 0);
  }

  children(row) {
    return (row < 0 ? this.top : this.below[row]) || [];
  }

  // The time that decides the colour of a row.
  own(row) {
    return this.self[row];
  }

  nodesOf(row) {
    return this.nodes.subarray(this.firstNode[row], this.firstNode[row + 1]);
  }

  // System calls in which threads waited in these rows or below, most samples first.
  waitsIn(rows) {
    const found = new Map();
    const left = [...rows];
    while (left.length > 0) {
      const row = left.pop();
      left.push(...this.children(row));
      for (const node of this.nodesOf(row)) {
        (this.profile.waitsIn.get(node) || []).forEach(([call, samples]) => found.set(call, (found.get(call) || 0) + samples));
      }
    }
    return [...found].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  }

  // Standard errors of the summed self and total times, in nanoseconds: roots of the sums of squares.
  spread(rows, outermost) {
    const inside = new Set(outermost);
    let own = 0;
    let total = 0;
    for (const row of rows) {
      for (const node of this.nodesOf(row)) {
        const estimate = this.profile.estimate.get(node);
        if (estimate) {
          own = Math.hypot(own, estimate[3]);
          total = inside.has(row) ? Math.hypot(total, estimate[4]) : total;
        }
      }
    }
    return [own, total].map((error) => (this.profile.dimension === "time" ? this.profile.nanos(error) : Math.round(error)));
  }

  // For each row of another tree: the row with the same path in this tree, or -1.
  counterparts(other) {
    const found = new Int32Array(other.length).fill(-1);
    for (let row = 0; row < other.length; row++) {
      const above = other.parent[row] < 0 ? -1 : found[other.parent[row]];
      if (above >= 0 || other.parent[row] < 0) {
        const key = (above + 1) * this.profile.functions + other.fn[row];
        const here = this.known.get(key);
        found[row] = here === undefined ? -1 : here;
      }
    }
    return found;
  }

  // Sums over all call sites of each function. Totals do not count recursive calls twice.
  functions() {
    const list = new Map();
    const depth = new Uint32Array(this.profile.functions);
    const stack = this.top.slice();
    while (stack.length > 0) {
      const entry = stack.pop();
      if (entry < 0) {
        depth[this.fn[~entry]]--;
        continue;
      }
      const fn = this.fn[entry];
      let row = list.get(fn);
      if (!row) {
        row = { fn, calls: 0, futures: 0, over: 0, wall: 0, sampled: 0, tally: NOTHING, self: 0, total: 0, off: [0, 0], selfOff: 0, open: 0, errors: 0, uncertain: new Uncertainty(), rows: [], outermost: [] };
        list.set(fn, row);
      }
      row.calls += this.calls[entry];
      row.futures += this.futures[entry];
      row.over += this.over[entry];
      row.wall += this.wall[entry];
      row.self += this.self[entry];
      row.selfOff += this.ownOff[0][entry] + this.ownOff[1][entry];
      row.tally = bothTallies(row.tally, this.tally[entry]);
      row.open += this.open[entry];
      row.errors += this.errors[entry];
      row.uncertain.add(this.uncertain[entry], 1);
      row.rows.push(entry);
      if (depth[fn] === 0) {
        row.total += this.total[entry];
        row.sampled += this.sampled[entry];
        row.off = row.off.map((ns, which) => ns + this.off[which][entry]);
        row.uncertain.add(this.uncertain[entry], 2);
        row.outermost.push(entry);
      }
      depth[fn]++;
      stack.push(~entry, ...this.children(entry));
    }
    for (const row of list.values()) {
      row.estimated = row.uncertain.rough(this.profile, row.self, row.total);
    }
    return [...list.values()];
  }

  // The row of the function that called a row, or -1. Rows that group functions with few samples are no callers.
  callerOf(row) {
    const parent = this.parent[row];
    const isGroup = parent >= 0 && this.calls[parent] === 0 && this.profile.name(this.fn[parent]) === "(others)";
    return isGroup ? this.callerOf(parent) : parent;
  }

  // The callers and callees of a function. The callers' totals add up to the function's total; recursive calls add no time.
  // The function's self time and its callees' totals also add up to it: time below belongs to the nearest call of the function.
  graph(fn) {
    const callers = new Map();
    const callees = new Map();
    const add = (map, key, row, total, isWithin) => {
      const entry = map.get(key) || { fn: key, calls: 0, total: 0, uncertain: new Uncertainty() };
      entry.calls += this.calls[row];
      entry.total += total;
      if (!isWithin) {
        entry.uncertain.add(this.uncertain[row], 2);
      }
      map.set(key, entry);
    };
    // Times without those of inner calls of the function.
    const own = Float64Array.from(this.self);
    const inside = new Uint8Array(this.length);
    for (let row = 0; row < this.length; row++) {
      const parent = this.parent[row];
      const within = parent >= 0 && inside[parent] === 1;
      inside[row] = within || this.fn[row] === fn ? 1 : 0;
      if (this.fn[row] === fn) {
        const caller = this.callerOf(row);
        add(callers, caller < 0 ? -1 : this.fn[caller], row, within ? 0 : this.total[row], within);
      }
    }
    for (let row = this.length - 1; row >= 0; row--) {
      const parent = this.parent[row];
      if (parent >= 0 && inside[parent] === 1 && this.fn[row] !== fn) {
        own[parent] += own[row];
      }
      if (parent >= 0 && this.fn[parent] === fn) {
        add(callees, this.fn[row], row, this.fn[row] === fn ? 0 : own[row], this.fn[row] === fn);
      }
    }
    for (const entry of [...callers.values(), ...callees.values()]) {
      entry.estimated = entry.uncertain.rough(this.profile, 0, entry.total) & 2;
    }
    const sorted = (map) => [...map.values()].sort((a, b) => b.total - a.total || b.calls - a.calls || a.fn - b.fn);
    return { callers: sorted(callers), callees: sorted(callees) };
  }
}
