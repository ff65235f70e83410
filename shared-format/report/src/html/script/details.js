// Everything about the selected row and its function.

const CALLS_SHOWN = 12;

class Details extends Drawn {
  constructor(place, owner) {
    super();
    this.place = place;
    this.owner = owner;
  }

  draw() {
    this.start();
    const { straight: tree, profile, selected, functions } = this.owner;
    this.place.replaceChildren();
    this.part();
    if (selected < 0) {
      this.into.append(element("p", "hint", "Select a row to see its numbers, callers, callees and latencies."));
      return;
    }
    const fn = this.owner.tree.fn[selected];
    const all = functions.get(fn);
    this.into.append(element("h2", "", profile.label(fn)));
    if (profile.name(fn) !== profile.label(fn)) {
      this.into.append(element("p", "whole-name", profile.name(fn)));
    }
    if (profile.place(fn) !== "-") {
      this.into.append(element("p", "where", profile.place(fn)));
    }
    if (profile.group(fn)) {
      this.into.append(element("p", "where", profile.group(fn)));
    }
    if (this.owner.inverted && this.owner.view !== "hot" && this.owner.tree.parent[selected] >= 0) {
      this.onTheWay();
    }
    if (this.owner.showsFunctions()) {
      this.numbers(all, "all places");
    } else {
      const here = { ...this.owner.treeRow(selected), rows: [selected], outermost: [selected] };
      if (all.rows.length === 1) {
        this.numbers(here, "only here");
      } else {
        this.numbers(here, "here", all);
      }
    }
    const { callers, callees } = tree.graph(fn);
    const latency = this.owner.showsFunctions() ? tree.latencyOf(all.rows) : tree.latency(selected);
    const shown = this.owner.showsFunctions() ? all.tally : tree.tally[selected];
    if (all.tally === null) {
      this.histogram(latency, tree.timedOf(this.owner.showsFunctions() ? all.rows : [selected]));
    } else if (shown !== null && shown.kind === "value") {
      this.histogramOfNumbers(latency, shown);
    }
    this.calls("Called from", callers, all);
    if (all.tally === null) {
      this.calls("Calls", callees, all, all.self);
    }
    const outermost = this.owner.showsFunctions() ? all.outermost : [selected];
    this.waits(outermost);
    this.threads(outermost);
  }

  // For a row of the bottom-up tree: the part of the top function's self time on this path.
  onTheWay() {
    const { tree, profile, selected } = this.owner;
    const [top] = tree.path(selected);
    const time = `${this.owner.time(tree.total[selected], tree.estimated[selected] & 2)} (${percent(tree.share(tree.total[selected]))})`;
    this.into.append(element("p", "", `${time} of the self time of ${profile.label(tree.fn[top])} came through this path.`));
  }

  // Begins a part that is not split between columns.
  part() {
    this.into = element("div", "part");
    this.place.append(this.into);
  }

  heading(text) {
    this.part();
    this.into.append(element("h3", "", text));
  }

  table(titles, rows, className) {
    const table = element("table", className);
    table.append(...tableParts(titles, rows));
    this.into.append(table);
  }

  numbers(here, title, everywhere) {
    const { straight: tree } = this.owner;
    const both = everywhere ? [here, everywhere] : [here];
    const exact = (ns, estimated) => {
      const share = this.owner.shareText(ns, estimated);
      const made = element("span", "", `${this.owner.time(ns, estimated)}  ${share.padStart(6)}`);
      made.title = `${digits(ns)} ${this.owner.profile.dimension === "time" ? "ns" : this.owner.profile.measure}`;
      return made;
    };
    const line = (name, cell) => [name, ...both.map(cell)];
    const whole = (number) => (this.owner.profile.data.per_calls === null ? digits(number) : this.owner.callsText(number));
    const titles = ["", title, ...(everywhere ? ["all places"] : [])];
    if (here.tally !== null) {
      this.table(titles, this.counted(here.tally.kind, line, whole), "numbers");
      return;
    }
    const rows = [
      line("total", (row) => exact(row.total, row.estimated & 2)),
      line("self", (row) => exact(row.self, row.estimated & 1)),
      ...(this.owner.profile.data.wait_columns
        ? [line("waiting", (row) => this.owner.offCpuText(row.off[0])), line("ready", (row) => this.owner.offCpuText(row.off[1]))]
        : []),
      line("calls", (row) => this.owner.callsOf(row, whole)),
      line("average", (row) => this.owner.average(row)),
      line("open now", (row) => digits(row.open)),
    ];
    if (both.some((row) => row.errors > 0)) {
      rows.push(line("clock errors", (row) => digits(row.errors)));
    }
    if (both.some((row) => row.rows.some((at) => tree.nodesOf(at).some((node) => this.owner.profile.estimate.has(node))))) {
      const spreads = both.map((row) => tree.spread(row.rows, row.outermost));
      rows.push(["total ±", ...spreads.map(([, total]) => this.owner.time(total, false))]);
      rows.push(["self ±", ...spreads.map(([own]) => this.owner.time(own, false))]);
    }
    this.table(titles, rows, "numbers");
  }

  // Shows the lines about a counter, value or gauge.
  counted(kind, line, whole) {
    const cell = (name, text) => line(name, (row) => (row.tally === null ? "-" : text(row.tally, row)));
    const level = (number) => (number < 0 ? "-" : "") + digits(Math.abs(number));
    const end = (name, sign, end) =>
      cell(name, ({ range }) => (range === null ? "-" : (range[`${end}Exact`] ? "" : sign) + level(range[end])));
    const ends = [end("smallest", "≥", "min"), end("largest", "<=", "max")];
    const calls = line("calls", (row) => whole(row.calls));
    if (kind === "gauge") {
      return [cell("level", (tally) => (tally.level ? level(tally.level.last) : "-")), ...ends, calls];
    }
    const each = (tally, row) => (row.calls > 0 ? (tally.sum / row.calls).toPrecision(3) : "-");
    const sums = [cell("sum", (tally) => whole(tally.sum)), calls, cell("each", each)];
    return kind === "value" ? [...sums, ...ends] : sums;
  }

  histogramOfNumbers(numbers, tally) {
    this.heading("Numbers of the value");
    if (numbers.buckets.length === 0) {
      this.into.append(element("p", "hint", "They were not kept one by one."));
      return;
    }
    const marks = QUANTILES.map(([name, share]) => [name, tally.quantile(numbers, share), ""]);
    const edges = (bucket) => valueEdges(bucket).map(count);
    this.chart(numbers, marks, { span: count, edges, what: "numbers", most: tally.most() });
  }

  histogram(latency, timed) {
    this.heading("Latency of finished calls, with callees");
    if (latency.buckets.length === 0) {
      const { histograms } = this.owner.profile.data;
      const when = this.owner.profile.data.span === "window" ? "in this window" : "since the reset";
      const none = `No call has finished ${when}, or how long they took was not kept.`;
      const why = histograms ? none : "Histograms were off in the program.";
      this.into.append(element("p", "hint", why));
      return;
    }
    const { profile } = this.owner;
    const span = (ticks) => twoDigits(profile.nanos(ticks));
    const marks = QUANTILES.map(([name, share]) => [name, latency.quantile(share), ""]);
    const [longest, exact] = latency.longest();
    marks.push(["max", longest, timed !== null ? ">=" : exact ? "" : "<="]);
    if (timed !== null) {
      this.into.append(element("p", "hint", `Of the ${digits(timed)} calls that were timed.`));
    }
    const edges = (bucket) => [span(lowerEdge(bucket)), span(upperEdge(bucket))];
    this.chart(latency, marks, { span, edges, what: "calls" });
  }

  // A histogram. Each mark is a name, a number and the sign before it. `most` is the largest number, if it has no mark.
  chart(latency, marks, { span, edges, what, most: largest }) {
    const calls = latency.calls;
    const first = latency.buckets[0][0];
    const last = latency.buckets[latency.buckets.length - 1][0];
    const most = latency.buckets.reduce((most, [, count]) => Math.max(most, count), 0);
    const chart = element("div", "chart");
    chart.setAttribute("role", "img");
    const texts = marks.map(([name, number, bound]) => [name, bound + span(number)]);
    if (largest) {
      texts.push(["max", largest]);
    }
    const said = texts.map(([name, text]) => `${name} ${text}`).join(", ");
    chart.setAttribute("aria-label", `Histogram of ${count(calls)} ${what}: ${said}`);
    const columns = last - first + 1;
    latency.buckets.forEach(([bucket, count]) => {
      const bar = element("div", "bar");
      bar.style.left = `${((bucket - first) / columns) * 100}%`;
      bar.style.width = `${100 / columns}%`;
      bar.style.height = `${Math.max((count / most) * 100, 1)}%`;
      const [from, to] = edges(bucket);
      bar.title = `${from} to ${to}: ${digits(count)} ${what}, ${percent(count / calls)}`;
      chart.append(bar);
    });
    // Position of a duration in the chart, in percent. All octaves have the same width.
    const along = (ticks) => {
      const octave = Math.floor(Math.log2(Math.max(ticks, 1)));
      const steps = (octave + ticks / 2 ** octave - 1) * PER_OCTAVE;
      return Math.min(Math.max(((steps - first) / columns) * 100, 0), 100);
    };
    marks.forEach(([name, ticks]) => {
      const mark = element("div", "mark");
      mark.style.left = `${along(ticks)}%`;
      mark.title = name;
      chart.append(mark);
    });
    const axis = element("div", "axis");
    axis.append(element("span", "", edges(first)[0]), element("span", "", edges(last)[1]));
    this.into.append(chart, axis);
    this.table(
      texts.map(([name]) => name),
      [texts.map(([, text]) => text)],
      "quantiles",
    );
  }

  calls(title, entries, all, own) {
    this.heading(title);
    const rows = entries.slice(0, CALLS_SHOWN).map((entry) => {
      const recursive = entry.fn === all.fn;
      return {
        of: entry.total,
        cells: [
          all.total > 0 ? percent(entry.total / all.total) : "-",
          recursive || (entry.total === 0 && entry.calls > 0) ? "-" : this.owner.time(entry.total, entry.estimated),
          this.owner.callsText(entry.calls),
          this.functionButton(entry.fn, recursive),
        ],
      };
    });
    if (own !== undefined) {
      const share = all.total > 0 ? percent(own / all.total) : "-";
      const cells = [share, this.owner.time(own, all.estimated & 1), "", element("em", "", "(self)")];
      rows.push({ of: own, cells });
      rows.sort((a, b) => b.of - a.of);
    }
    if (entries.length > CALLS_SHOWN) {
      const rest = entries.slice(CALLS_SHOWN);
      const total = rest.reduce((sum, entry) => sum + entry.total, 0);
      const calls = rest.reduce((sum, entry) => sum + entry.calls, 0);
      const share = all.total > 0 ? percent(total / all.total) : "-";
      const text = element("em", "", `${rest.length} more`);
      rows.push({ of: 0, cells: [share, this.owner.time(total, rest.some((entry) => entry.estimated)), this.owner.callsText(calls), text] });
    }
    this.table(
      ["%", this.owner.profile.measure, "calls", title === "Calls" ? "callee" : "caller"],
      rows.map((row) => row.cells),
      "calls",
    );
  }

  functionButton(fn, recursive) {
    if (fn < 0) {
      return element("em", "", "(top of a thread)");
    }
    const { profile } = this.owner;
    const button = element("button", "link", recursive ? `↻ ${profile.label(fn)}` : profile.label(fn));
    button.type = "button";
    button.title = recursive ? "calls itself; the time is in the outermost call" : profile.name(fn);
    button.addEventListener("click", () => this.owner.selectFunction(fn));
    return button;
  }

  waits(rows) {
    const calls = this.owner.straight.waitsIn(rows);
    if (calls.length === 0) {
      return;
    }
    const all = calls.reduce((sum, [, samples]) => sum + samples, 0);
    this.heading("Waits in");
    const cells = calls.slice(0, CALLS_SHOWN).map(([call, samples]) => [percent(samples / all), digits(samples), waitWords(call)]);
    if (calls.length > CALLS_SHOWN) {
      cells.push(["", "", element("em", "", `${calls.length - CALLS_SHOWN} more`)]);
    }
    this.table(["%", "looks", "system call"], cells, "calls");
  }

  threads(rows) {
    const { straight: tree, profile } = this.owner;
    if (tree.thread !== null || profile.data.thread_rows.length < 2) {
      return;
    }
    const totals = new Map();
    rows.forEach((row) => {
      tree.nodesOf(row).forEach((node) => {
        const thread = profile.thread[node];
        const entry = totals.get(thread) || [0, 0];
        totals.set(thread, [entry[0] + profile.total[node], entry[1] + profile.data.calls[node]]);
      });
    });
    const list = [...totals].sort(([a, [x]], [b, [y]]) => y - x || a - b);
    const all = list.reduce((sum, [, [total]]) => sum + total, 0);
    this.heading("By thread");
    const estimated = rows.some((row) => tree.estimated[row] & 2);
    const cells = list.slice(0, CALLS_SHOWN).map(([thread, [total, calls]]) => {
      const share = all > 0 ? percent(total / all) : "-";
      const time = total === 0 && calls > 0 ? "-" : this.owner.time(total, estimated);
      return [share, time, this.owner.callsText(calls), this.owner.threadText(thread)];
    });
    if (list.length > CALLS_SHOWN) {
      cells.push(["", "", "", element("em", "", `${list.length - CALLS_SHOWN} more`)]);
    }
    this.table(["%", profile.measure, "calls", "thread"], cells, "calls");
  }
}
