// The texts in rows.

// Percentiles of fewer timed calls are rough.
const TIMED_ENOUGH = 1000;

Object.assign(Page.prototype, {
  // Formats a time, for all calls or per call of a function. A time above 0 never looks like 0.
  time(ns, estimated) {
    // No sample hit this time, so it is short, but its length is unknown.
    if (estimated && Number(ns) === 0) return "-";
    const per = this.profile.data.per_calls;
    if (this.profile.dimension !== "time") {
      return (estimated ? "~" : "") + (per === null ? this.profile.value(ns) : this.profile.mean(ns, per));
    }
    return (estimated ? "~" : "") + this.plainTime(ns);
  },

  // Formats waiting or ready time, whatever the measure. Most rows never wait, so 0 is a dash.
  offCpuText(ns) {
    return !this.profile.data.waits || ns === 0 ? "-" : this.plainTime(ns);
  },

  // Formats a time, whatever the measure.
  plainTime(ns) {
    const per = this.profile.data.per_calls;
    const part = per === null ? BigInt(ns) : rounded(BigInt(ns), BigInt(per));
    return part === 0n && ns > 0 ? "<1ns" : duration(part);
  },

  callsText(calls) {
    const per = this.profile.data.per_calls;
    return per === null ? count(calls) : quotient(calls, per);
  },

  // Formats the number of calls of a row, or `~` if it is unknown.
  callsOf(row, text = (calls) => this.callsText(calls)) {
    return row.calls === 0 && row.sampled > 0 ? "~" : text(row.calls);
  },

  shareText(ns, estimated) {
    return (estimated ? "~" : "") + percent(this.tree.share(ns));
  },

  // Share of a row: of all time, or of its parent. A function over all call sites has only a share of all time.
  shareOf(ns, row) {
    if (!this.ofParent || row === undefined) {
      return this.tree.share(ns);
    }
    const whole = this.tree.above(row);
    return whole === 0 ? 0 : ns / whole;
  },

  // Formats the mean time of a call; for a future, its wall time.
  average(row) {
    if (row.futures > 0 && this.profile.measure === "time") {
      return row.over > 0 ? this.profile.mean(row.wall, row.over) : "-";
    }
    return row.calls > 0 ? (row.estimated & 2 ? "~" : "") + this.profile.mean(this.profile.counted(row), row.calls) : "-";
  },

  threadText(thread) {
    const { data } = this.profile;
    const finished = data.thread_state[thread] === "finished";
    const which = finished ? `${digits(data.thread_count[thread])} finished` : `tid ${data.thread_tid[thread]}`;
    return `${data.thread_name[thread]} (${which})`;
  },

  everything() {
    const { thread, measured } = this.tree;
    const who = thread === null ? "all threads" : this.threadText(thread);
    return `${who}: ${this.measuredText(measured)} inside scopes`;
  },

  measuredText(measured) {
    const text = this.time(measured, this.straight.top.some((row) => this.straight.estimated[row] & 2));
    return `${text} ${this.profile.summed}`.trim();
  },

  flameText(row) {
    return `${this.profile.label(this.tree.fn[row])}  ${this.shareText(this.tree.total[row], this.tree.estimated[row] & 2)}`;
  },

  spoken(row) {
    const { tree } = this;
    const tally = tree.tally[row];
    if (tally !== null) {
      const main = tally.main((sum) => this.callsText(sum));
      const word = tally.kind === "gauge" ? "level" : "sum";
      return `${this.profile.label(tree.fn[row])}: a ${tally.kind}, ${word} ${main} in ${this.callsText(tree.calls[row])} calls`;
    }
    const [total, own] = [tree.total[row], tree.self[row]];
    const flags = tree.estimated[row];
    if (this.inverted) {
      const way = tree.path(row).map((at) => this.profile.label(tree.fn[at]));
      const time = `${this.time(total, flags & 2)}, ${this.shareText(total, flags & 2)}`;
      return `${way.join(" ‹ ")}: ${time} of the self time of ${way[0]}; ${this.callsText(tree.calls[row])} calls`;
    }
    return (
      `${this.profile.label(tree.fn[row])}: total ${this.time(total, flags & 2)}, ${this.shareText(total, flags & 2)}; ` +
      `self ${this.time(own, flags & 1)}, ${this.shareText(own, flags & 1)}; ` +
      `${this.callsText(tree.calls[row])} calls, ${this.average(this.treeRow(row))} on average`
    );
  },

  latencyOf(row) {
    if (row.rows) {
      row.latency = row.latency || this.tree.latencyOf(row.rows);
      return row.latency;
    }
    return this.tree.latency(row.row);
  },

  // A row of the tree with the members that columns read.
  treeRow(row) {
    const { tree } = this;
    return {
      row,
      fn: tree.fn[row],
      total: tree.total[row],
      self: tree.self[row],
      off: tree.off.map((column) => column[row]),
      calls: tree.calls[row],
      futures: tree.futures[row],
      over: tree.over[row],
      wall: tree.wall[row],
      sampled: tree.sampled[row],
      tally: tree.tally[row],
      open: tree.open[row],
      errors: tree.errors[row],
      estimated: tree.estimated[row],
    };
  },

  // In place of a time: the sum of a counter or level of a gauge, with a sign that it is no time.
  textsOfCounter(row) {
    const { tally } = row;
    const sign = row.rows ? "selfShare" : "share";
    const [sum, least] = row.rows ? ["self", "total"] : ["total", "self"];
    const latency = this.latencyOf(row);
    const quantile = (share) => {
      const number = tally.quantile(latency, share);
      return number === null ? "-" : count(number);
    };
    return {
      share: "-",
      selfShare: "-",
      wait: "-",
      ready: "-",
      [sign]: tally.sign,
      [sum]: tally.main((sum) => this.callsText(sum)),
      [least]: tally.least(),
      average: tally.mean(row.calls),
      p50: quantile(0.5),
      p99: quantile(0.99),
      max: tally.most(),
      calls: this.callsText(row.calls),
      errors: count(row.errors),
      place: this.profile.data.place[row.fn],
    };
  },

  texts(row) {
    if (row.tally !== null) {
      return this.textsOfCounter(row);
    }
    const latency = this.latencyOf(row);
    const timed = this.tree.timedOf(row.rows || [row.row]);
    const about = timed !== null && timed < TIMED_ENOUGH ? "~" : "";
    const ticks = (ticks, sign) => (ticks === null ? "-" : sign + twoDigits(this.profile.nanos(ticks)));
    const [longest, exact] = latency.longest() || [null, true];
    const bound = timed !== null ? ">=" : exact ? "" : "<=";
    const share = (ns, estimated) => (estimated ? "~" : "") + percent(this.shareOf(ns, row.row));
    return {
      share: share(row.total, row.estimated & 2),
      total: this.time(row.total, row.estimated & 2),
      self: this.time(row.self, row.estimated & 1),
      selfShare: share(row.self, row.estimated & 1),
      wait: this.offCpuText(row.off[0]),
      ready: this.offCpuText(row.off[1]),
      calls: this.callsOf(row),
      average: this.average(row),
      p50: ticks(latency.quantile(0.5), about),
      p99: ticks(latency.quantile(0.99), about),
      max: ticks(longest, bound),
      errors: count(row.errors),
      place: this.profile.data.place[row.fn],
    };
  },

  marks(row) {
    const open = row.open > 0 ? " •" : "";
    // In a bottom-up tree the time is self time. It may be short even if calls are long.
    const doubtful = row.tally === null && !(this.inverted && row.row !== undefined) && this.profile.isDoubtful(this.profile.counted(row), row.calls);
    return open + (doubtful ? " †" : "");
  },
});
