// What each thread did, in words.

// Maximum number of threads shown: those with the most time in scopes.
const THREADS_SHOWN = 200;

// What threads wait for in these system calls.
const WAITED_FOR = [
  [/^futex/, "a lock, a channel or another thread"],
  [/^(clock_)?nanosleep/, "sleeping"],
  [/^(epoll|poll|ppoll|select|pselect)/, "any of several files or connections"],
  [/pipe/, "a pipe"],
  [/socket|^(recv|send|accept|connect)/, "the network"],
  [/sync/, "the disk"],
  [/^(wait4|waitid)/, "another process"],
  [/^page fault/, "memory from the disk"],
  [/file/, "a file"],
  [/device/, "a terminal or another device"],
];

function waitWords(call) {
  const known = WAITED_FOR.find(([pattern]) => pattern.test(call));
  return known ? `${call}: ${known[1]}` : call;
}

const THREAD_STATES = {
  running: "in a measured function",
  idle: "in no measured function",
  paused: "its clock is stopped",
  finished: "ended",
};

const THREAD_NOW = new Map([
  ["running", "on a CPU"],
  ["ready", "ready, but no CPU is free"],
]);

class Threads {
  constructor(place, owner) {
    this.place = place;
    this.owner = owner;
  }

  draw() {
    const { data } = this.owner.profile;
    this.rows = this.rows || this.sum();
    const most = Math.max(...this.rows.map((row) => row.inside), 1);
    const cards = this.rows.slice(0, THREADS_SHOWN).map((row) => this.card(row, most));
    if (this.rows.length > THREADS_SHOWN) {
      cards.push(element("p", "hint", `${digits(this.rows.length - THREADS_SHOWN)} more, which were not as long in measured functions`));
    }
    const colours = element("p", "hint colours");
    if (data.waits) {
      for (const [part, text] of [["computing", "computing"], ["ready", "ready, no CPU free"], ["waiting", "waiting"]]) {
        const key = element("span", "key", text);
        key.prepend(element("span", `sample ${part}`));
        colours.append(key, " ");
      }
    }
    this.place.replaceChildren(colours, ...cards);
    if (this.rows.length === 0) {
      colours.textContent = "No thread has entered a scope.";
    }
  }

  // The times of each thread, whatever the measure.
  sum() {
    const { profile } = this.owner;
    const { data } = profile;
    const rows = data.thread_rows.map((_, thread) => ({ thread, inside: 0, off: [0, 0], calls: 0, waits: new Map(), open: -1 }));
    profile.thread.forEach((thread, node) => {
      const row = rows[thread];
      row.inside += data.self_ns[node];
      row.calls += data.calls[node];
      (profile.offCpu.get(node) || []).forEach((ns, which) => (row.off[which] += ns));
      (profile.waitsIn.get(node) || []).forEach(([call, looks]) => row.waits.set(call, (row.waits.get(call) || 0) + looks));
    });
    // Open scopes come outermost first, so the innermost one stays.
    data.open.forEach((node) => (rows[profile.thread[node]].open = node));
    return rows.sort((a, b) => b.inside - a.inside || b.calls - a.calls || a.thread - b.thread);
  }

  card(row, most) {
    const { owner } = this;
    const card = element("section", "card");
    const title = element("h2");
    const button = element("button", "link", owner.threadText(row.thread));
    button.type = "button";
    button.title = "Its call tree alone";
    button.addEventListener("click", () => {
      owner.chooseThread(row.thread);
      owner.showView("tree");
    });
    title.append(button);
    const bar = element("div", "track");
    const list = element("dl");
    const { waits: isKnown } = owner.profile.data;
    const computing = Math.max(row.inside - row.off[0] - row.off[1], 0);
    const parts = isKnown ? [["computing", computing], ["ready", row.off[1]], ["waiting", row.off[0]]] : [["inside", row.inside]];
    parts.forEach(([name, ns]) => {
      const part = element("div", name);
      part.style.width = `${(ns / most) * 100}%`;
      bar.append(part);
    });
    this.lines(row, computing).forEach(([name, text, isPart]) => {
      list.append(element("dt", isPart ? "part-of" : "", name), element("dd", "", text));
    });
    card.append(title, bar, list);
    return card;
  }

  // The lines about a thread, each as name and text.
  lines(row, computing) {
    const { owner } = this;
    const { data } = owner.profile;
    const { thread, inside } = row;
    const time = (ns) => owner.plainTime(ns);
    const part = (ns) => `${time(ns)}, ${percent(inside === 0 ? 0 : ns / inside)} of that`;
    const state = data.thread_state[thread];
    const lines = [["CPU time", this.cpu(thread)], ["in measured functions", time(inside)]];
    if (data.waits) {
      lines.push(["computing", part(computing), true]);
      lines.push(["ready, no CPU free", part(row.off[1]), true]);
      lines.push(["waiting", part(row.off[0]) + Threads.mostly(row.waits), true]);
    } else {
      const why = data.wait_columns ? `mode ${data.mode} does not tell` : "the program does not measure it";
      lines.push(["waiting", `not known: ${why}`, true]);
    }
    lines.push(["outside of them", time(data.thread_outside_ns[thread])]);
    const now = data.thread_now[thread];
    const doing = THREAD_NOW.get(now) ?? (now === "" ? (THREAD_STATES[state] ?? state) : `waits in ${waitWords(now)}`);
    const where = row.open < 0 ? "" : `in ${owner.profile.label(owner.profile.fn[row.open])}: `;
    lines.push(["when this was taken", where + doing]);
    return lines;
  }

  cpu(thread) {
    const { data } = this.owner.profile;
    const ns = data.thread_cpu_ns[thread];
    if (ns === null) {
      return "the system does not tell";
    }
    // The lifetime of ended threads is unknown.
    const isShare = data.thread_state[thread] !== "finished" && data.since_reset_ns > 0;
    return this.owner.plainTime(ns) + (isShare ? `, ${percent(ns / data.since_reset_ns)} of one CPU` : "");
  }

  // Text about the system call with the most samples.
  static mostly(waits) {
    const [most] = [...waits].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
    if (most === undefined) {
      return "";
    }
    const all = [...waits.values()].reduce((sum, looks) => sum + looks, 0);
    return `; ${percent(most[1] / all)} of it in ${waitWords(most[0])}`;
  }
}
