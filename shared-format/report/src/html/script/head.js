// The head above the views, and what buttons and keys do.

Object.assign(Page.prototype, {
  head() {
    const { data } = this.profile;
    byId("program").textContent = data.program;
    const local = new Date(data.unix_ms).toLocaleString();
    const summary = byId("summary");
    summary.textContent = `pid ${data.pid} · ${data.state} · ${data.taken} · mode ${data.mode}${data.focus && ` · ${data.focus}`}`;
    summary.title = `${local} where you are`;
    byId("doubtful-below").textContent = duration(Math.round(data.doubtful_below_ns));
    byId("doubts").hidden = data.doubts.length === 0;
    byId("doubts").querySelector("ul").append(...data.doubts.map((text) => element("li", "", text)));
    const facts = byId("facts").querySelector("dl");
    data.facts.forEach(([name, text]) => facts.append(element("dt", "", name), element("dd", "", text)));
    const groups = data.group_rows || [];
    byId("groups-button").hidden = groups.length === 0;
    const [, lines] = tableParts([], groups);
    byId("groups").querySelector("tbody").replaceWith(lines);
    const threads = byId("thread");
    threads.append(option("", "all, merged by path"));
    data.thread_rows.forEach((_, thread) => threads.append(option(String(thread), this.threadText(thread))));
    data.measures.forEach(([name], at) => byId("measure").append(option(String(at), name)));
  },

  tiles() {
    const { data } = this.profile;
    const outside = this.profile.outside.reduce(
      (sum, ns, thread) => sum + (this.tree.thread === null || this.tree.thread === thread ? ns : 0),
      0,
    );
    const tiles = [
      [data.span, data.since_reset, data.span === "window" ? "All numbers are of this stretch of time" : "How long the counters have been running"],
      ["in scopes", this.measuredText(this.straight.measured), `100 %; ${this.time(outside, false)} outside any scope are no part of it`],
      ["calls", this.callsText(this.tree.allCalls), "Calls of all scopes"],
      ["cost", `${data.cost_lower} – ${data.cost_upper}`, "What measuring takes of all time in scopes, at least and at most"],
    ];
    if (data.per_calls !== null) {
      tiles.unshift(["per call of", data.per_name, `Times and calls are divided by its ${digits(data.per_calls)} calls`]);
    }
    byId("tiles").replaceChildren(
      ...tiles.map(([name, text, explained]) => {
        const tile = element("div");
        tile.title = explained;
        tile.append(element("dt", "", name), element("dd", "", text));
        return tile;
      }),
    );
  },

  listen() {
    const click = (id, act) => byId(id).addEventListener("click", act);
    click("theme", () => this.switchTheme());
    click("facts-button", () => byId("facts").showModal());
    click("groups-button", () => byId("groups").showModal());
    click("help-button", () => byId("help").showModal());
    click("hottest", () => this.hottest());
    click("unfold", () => this.unfoldAll(true));
    click("fold", () => this.unfoldAll(false));
    click("turn", () => this.turnRound());
    click("zoom-in", () => this.flame.zoom(this.selected));
    click("zoom-out", () => this.flame.out());
    document.querySelectorAll("[role=tab]").forEach((tab) => {
      tab.addEventListener("click", () => this.showView(tab.dataset.view));
    });
    document.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) {
        const views = this.views();
        this.showView(views[(views.indexOf(this.view) + step + views.length) % views.length]);
        byId(`tab-${this.view}`).focus();
        event.preventDefault();
      }
    });
    byId("thread").addEventListener("change", ({ target }) => {
      this.chooseThread(target.value === "" ? null : Number(target.value));
    });
    byId("measure").addEventListener("change", ({ target }) => this.chooseMeasure(Number(target.value)));
    byId("percent").addEventListener("change", ({ target }) => this.chooseShares(target.value !== ""));
    const search = byId("search");
    search.addEventListener("input", () => this.search(search.value));
    search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        this.next(event.shiftKey ? -1 : 1);
        event.preventDefault();
      } else if (event.key === "ArrowDown") {
        this.takeKeys();
        event.preventDefault();
      }
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.themed());
    document.addEventListener("keydown", (event) => this.key(event));
  },

  // Focuses the view. Called directly, because a window without focus sends no focus event.
  takeKeys() {
    const { lanes } = this.timeline;
    const place = this.view === "timeline" && lanes && !lanes.hidden ? lanes : byId(this.view);
    place.focus({ preventScroll: true });
  },

  escape() {
    const search = byId("search");
    if (this.query !== "" || document.activeElement === search) {
      search.value = "";
      this.search("");
      this.takeKeys();
    } else if (this.view === "flame") {
      this.flame.out();
    }
  },

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) {
      return;
    }
    const typing = ["INPUT", "SELECT"].includes(event.target.tagName);
    if (event.key === "Escape") {
      this.escape();
      return;
    }
    const view = (name) => () => {
      this.showView(name);
      this.takeKeys();
    };
    const keys = {
      1: view("tree"),
      2: view("flame"),
      3: view("hot"),
      4: view("threads"),
      5: () => this.slow.watches.length > 0 && view("slow")(),
      6: () => this.timeline.data && view("timeline")(),
      J: () => this.view === "slow" && this.slow.open(this.slow.opened + 1),
      K: () => this.view === "slow" && this.slow.open(this.slow.opened - 1),
      "/": () => byId("search").focus(),
      "?": () => byId("help").showModal(),
      m: () => byId("facts").showModal(),
      n: () => this.next(1),
      N: () => this.next(-1),
      d: () => this.switchTheme(),
      t: () => byId("thread").focus(),
      v: () => this.chooseMeasure((this.profile.by + 1) % this.profile.data.measures.length),
      h: () => this.view === "tree" && this.hottest(),
      e: () => this.view === "tree" && this.unfoldAll(true),
      c: () => this.view === "tree" && this.unfoldAll(false),
      i: () => ["tree", "flame"].includes(this.view) && this.turnRound(),
      "%": () => this.view === "tree" && this.chooseShares(!this.ofParent),
    };
    if (!typing && Object.hasOwn(keys, event.key)) {
      keys[event.key]();
      event.preventDefault();
    }
  },
});
