// Runs in tests after the scripts of a page. The page checks itself and writes the outcome at its end.

function checks() {
  const { profile } = page;
  const fail = (text) => {
    throw new Error(text);
  };
  const same = (found, wanted, what) => found === wanted || fail(`${what}: found ${found}, wanted ${wanted}`);
  // Sums are exact up to 2^53 nanoseconds, which are 104 days. Larger ones may differ by rounding.
  const near = (found, wanted, what) =>
    Math.abs(found - wanted) <= Math.max(found, wanted) * 1e-12 || fail(`${what}: found ${found}, wanted ${wanted}`);
  const press = (target, key) => {
    target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  };
  const sum = (numbers) => numbers.reduce((sum, number) => sum + number, 0);
  const grid = page.grids.tree;
  const all = { ...page.orders };

  return {
    "self and children make the total, in every thread": () => {
      const threads = profile.data.thread_rows.map((_, thread) => thread).slice(0, 20);
      for (const thread of [null, ...threads]) {
        const tree = new Tree(profile, thread);
        for (let row = 0; row < tree.length; row++) {
          near(tree.self[row] + sum(tree.children(row).map((child) => tree.total[child])), tree.total[row], `row ${row}`);
        }
        near(sum(tree.self), tree.measured, "all self times");
        near(sum(tree.functions().map((row) => row.self)), tree.measured, "self times of functions");
      }
    },
    "callers add up to the total, and so do self and callees": () => {
      for (const row of [...page.functions.values()].slice(0, 50)) {
        const { callers, callees } = page.tree.graph(row.fn);
        near(sum(callers.map(({ total }) => total)), row.total, `callers of ${profile.label(row.fn)}`);
        near(row.self + sum(callees.map(({ total }) => total)), row.total, `callees of ${profile.label(row.fn)}`);
        same(sum(callers.map(({ calls }) => calls)), row.calls, "calls from callers");
      }
    },
    "a thread alone has its own time": () => {
      profile.data.thread_rows.slice(0, 20).forEach((_, thread) => {
        page.chooseThread(thread);
        const own = profile.self.filter((_, node) => profile.thread[node] === thread);
        near(page.tree.measured, sum(own), `thread ${thread}`);
      });
      page.chooseThread(null);
    },
    "everything unfolds and folds": () => {
      page.showView("tree");
      page.unfoldAll(false);
      same(page.rows.length, page.tree.top.length, "folded rows");
      page.unfoldAll(true);
      same(page.rows.length, page.tree.length, "unfolded rows");
    },
    "only rows on screen are in the document": () => {
      const most = Math.ceil(grid.place.clientHeight / grid.rowHeight) + 2 * SPARE_ROWS + 1;
      const there = grid.body.querySelectorAll(".row:not([hidden])").length;
      same(there <= most && there >= Math.min(1, page.rows.length), true, `${there} rows of at most ${most}`);
      grid.place.scrollTop = grid.place.scrollHeight;
      grid.draw();
      same(grid.shown.has(page.rows.length - 1) || page.rows.length === 0, true, "the last row after scrolling");
      grid.place.scrollTop = 0;
      grid.draw();
    },
    "siblings are sorted by any column, both ways": () => {
      for (const view of ["tree", "hot"]) {
        for (const { id } of page.grids[view].columns) {
          for (const descending of [true, false]) {
            page.orders[view] = [id, !descending];
            page.sort(view, id);
            const lists =
              view === "hot" ? [page.listed] : [-1, ...page.rows].map((row) => page.sorted(row).map((at) => page.treeRow(at)));
            for (const list of lists) {
              const values = list.map((row) => SORT_VALUES[id](row, page));
              for (let at = 1; at < values.length; at++) {
                const [a, b] = [values[at - 1], values[at]];
                const order = a === null || b === null || !descending ? compare(a, b) : compare(b, a);
                same(order <= 0, true, `${view} by ${id}: ${a} before ${b}`);
              }
            }
          }
        }
      }
      page.orders = { ...all };
      page.sort("tree", "bar");
      page.sort("tree", "total");
      page.sort("hot", "calls");
      page.sort("hot", "self");
    },
    "turned round, callers make the time of a function, and back it is as before": () => {
      page.showView("tree");
      if (page.rows.length > 0) {
        page.select(page.rows.at(-1));
      }
      const fn = page.selected < 0 ? -1 : page.tree.fn[page.selected];
      press(document.body, "i");
      const { tree } = page;
      same(page.inverted, true, "turned round");
      same(byId("turned").hidden, false, "what it is");
      same(page.selected < 0 ? -1 : tree.fn[page.selected], fn, "the selected function");
      near(sum(tree.top.map((row) => tree.total[row])), page.straight.measured, "all functions");
      tree.top.forEach((row) => {
        near(tree.total[row], page.functions.get(tree.fn[row]).self, `self time of ${profile.label(tree.fn[row])}`);
      });
      page.unfoldAll(true);
      page.rows.slice(0, 500).forEach((row) => {
        near(tree.self[row] + sum(tree.children(row).map((child) => tree.total[child])), tree.total[row], `row ${row}`);
        same(page.spoken(row).includes(profile.label(tree.fn[row])), true, "its name");
      });
      page.details.draw();
      press(document.body, "2");
      page.flame.boxes.forEach((level) => {
        same(sum(level.map(({ width }) => width)) <= page.flame.place.clientWidth + 1, true, "a level of the icicle");
      });
      press(document.body, "3");
      press(document.body, "1");
      press(document.body, "i");
      same(page.tree, page.straight, "the tree");
      same(byId("turned").hidden, true, "said of the tree from the top down");
      page.unfoldAll(true);
    },
    "shares of parents": () => {
      page.showView("tree");
      const shares = (row) => page.texts(page.treeRow(row)).share;
      const before = page.rows.map(shares);
      press(document.body, "%");
      same(byId("percent").value, "parent", "the choice");
      page.rows.forEach((row, at) => {
        const parent = page.tree.parent[row];
        const isCounter = page.tree.tally[row] !== null;
        const mark = page.tree.estimated[row] & 2 ? "~" : "";
        const whole = parent < 0 ? page.tree.measured : page.tree.total[parent];
        const wanted = isCounter ? before[at] : mark + percent(whole === 0 ? 0 : page.tree.total[row] / whole);
        same(shares(row), wanted, `share of row ${row}`);
      });
      press(document.body, "%");
      same(page.rows.map(shares).join(), before.join(), "shares of all");
    },
    "names have room, first of all in narrow tables": () => {
      for (const width of [376, 700, 1100]) {
        const { place } = grid;
        place.style.width = `${width}px`;
        page.showView("tree");
        grid.fit(place.clientWidth);
        page.refresh();
        same(place.scrollWidth <= place.clientWidth, true, `a table of ${place.scrollWidth} in ${width}`);
        const name = grid.head.querySelector(".function");
        const isNarrow = width === 376;
        const share = isNarrow ? NARROW_NAME_SHARE : NAME_SHARE;
        same(name.offsetWidth >= place.clientWidth * share, true, `names of ${name.offsetWidth} in ${width}`);
        same(name.getBoundingClientRect().left < place.getBoundingClientRect().left + 20, isNarrow, "names at the left");
        grid.shown.forEach(({ element, cells }) => {
          const [row, bar] = [element.offsetWidth, cells.bar.offsetWidth];
          same(bar >= 72 && (!isNarrow || bar >= row - 24), true, `a bar of ${bar} in a row of ${row}`);
        });
      }
      grid.place.style.width = "";
      grid.fit(grid.place.clientWidth);
      page.refresh();
    },
    "no view is wider than the window": () => {
      for (const view of page.views()) {
        page.showView(view);
        same(document.documentElement.scrollWidth <= innerWidth, true, `${view}: a page of ${document.documentElement.scrollWidth}`);
      }
      page.showView("tree");
    },
    "threads tell their time in words": () => {
      press(document.body, "4");
      same(page.view, "threads", "view after 4");
      const cards = [...byId("threads").querySelectorAll(".card")];
      same(cards.length, Math.min(profile.data.thread_rows.length, THREADS_SHOWN), "cards");
      near(sum(page.threads.rows.map(({ inside }) => inside)), sum(profile.data.self_ns), "time of all");
      cards.forEach((card, at) => {
        const { thread, inside } = page.threads.rows[at];
        const text = card.textContent;
        same(text.startsWith(page.threadText(thread)), true, "the name");
        same(text.includes(page.plainTime(inside)), true, "time in functions");
        const cpu = profile.data.thread_cpu_ns[thread];
        same(text.includes(cpu === null ? "does not tell" : page.plainTime(cpu)), true, "CPU time");
        same(text.includes("waitingnot known"), !profile.data.waits, "whether waits are known");
      });
      if (cards.length > 0) {
        cards[0].querySelector("button").click();
        same([page.view, page.tree.thread].join(), `tree,${page.threads.rows[0].thread}`, "its tree");
        page.chooseThread(null);
      }
      page.showView("tree");
      page.unfoldAll(true);
    },
    "search finds what has the text in its name": () => {
      if (page.rows.length === 0) {
        return;
      }
      const text = profile.label(page.tree.fn[0]).slice(0, 5).trim();
      page.search(text);
      const wanted = page.rows.filter((row) => {
        return profile.label(page.tree.fn[row]).toLowerCase().includes(text.toLowerCase());
      });
      same(page.found.length, wanted.length, "rows found");
      same(page.listed.length, new Set(wanted.map((row) => page.tree.fn[row])).size, "functions listed");
      page.next(1);
      same(page.found.includes(page.selected), true, "selected is one of them");
      page.search("");
      same(byId("found").textContent, "", "count when nothing is searched for");
    },
    "keys move, fold, search and leave": () => {
      if (page.rows.length < 2) {
        return;
      }
      page.select(page.rows[0]);
      press(grid.place, "ArrowDown");
      same(page.selected, page.rows[1], "row after down");
      press(grid.place, "Home");
      same(page.selected, page.rows[0], "row after home");
      press(grid.place, "End");
      same(page.selected, page.rows[page.rows.length - 1], "row after end");
      same(grid.shown.has(page.rows.length - 1), true, "the last row on screen");
      const parent = page.rows.find((row) => page.tree.children(row).length > 0);
      if (parent !== undefined) {
        page.select(parent);
        const before = page.rows.length;
        press(grid.place, "ArrowLeft");
        same(page.rows.length < before, true, "fewer rows after left");
        press(grid.place, "Enter");
        same(page.rows.length, before, "rows after enter");
        press(grid.place, "ArrowRight");
        same(page.tree.parent[page.selected], parent, "first child after right");
      }
      press(document.body, "/");
      same(document.activeElement.id, "search", "focus after /");
      press(document.activeElement, "Escape");
      same(document.activeElement.id, "tree", "focus after escape");
      press(document.body, "3");
      same(page.view, "hot", "view after 3");
      press(byId("hot"), "Enter");
      same(page.view, "tree", "view after enter on a function");
    },
    "rows say what they are to a screen reader": () => {
      grid.body.querySelectorAll(".row:not([hidden])").forEach((row) => {
        same(row.getAttribute("role"), "row", "role");
        const tree = page.rows[row.dataset.index];
        same(Number(row.getAttribute("aria-level")), page.tree.depth[tree] + 1, "level");
        same(row.hasAttribute("aria-expanded"), page.tree.children(tree).length > 0, "has children");
        same(Number(row.getAttribute("aria-posinset")) <= Number(row.getAttribute("aria-setsize")), true, "position");
      });
    },
    "hovering lights up the whole path": () => {
      const deepest = page.rows.reduce((a, b) => (page.tree.depth[b] > page.tree.depth[a] ? b : a), page.rows[0]);
      if (deepest !== undefined) {
        page.hover(deepest);
        const lit = [...grid.shown].filter(([, { element }]) => element.classList.contains("lit")).map(([at]) => page.rows[at]);
        const path = page.tree.path(deepest);
        same(lit.every((row) => path.includes(row)), true, "only the path");
        const onScreen = [...grid.shown.keys()].filter((at) => path.includes(page.rows[at]));
        same(lit.length, onScreen.length, "all of it that is on screen");
        page.hover(-1);
      }
    },
    "the icicle fits, and zooms in and out": () => {
      page.showView("flame");
      const width = page.flame.place.clientWidth;
      const fits = () => {
        page.flame.boxes.forEach((level) => {
          const widths = sum(level.map((box) => box.width));
          same(widths <= width + 1, true, `a level of ${widths} in ${width}`);
        });
      };
      fits();
      const inner = page.rows.find((row) => page.tree.children(row).length > 0 && page.tree.total[row] > 0);
      if (inner !== undefined) {
        page.select(inner);
        press(byId("flame"), "Enter");
        same(page.flame.zoomed, inner, "zoomed");
        same(page.flame.boxes.some((level) => level.some((box) => box.row === inner && box.width === width)), true, "whole width");
        fits();
        while (page.flame.out());
        same(page.flame.zoomed, -1, "zoomed out");
      }
      page.showView("tree");
    },
    "a slow call over time: calls have their places, and it zooms, moves and is dragged": () => {
      const { slow } = page;
      const tab = byId("tab-slow");
      same(tab.hidden, slow.watches.length === 0, "a tab without slow calls");
      if (tab.hidden) {
        press(document.body, "5");
        same(page.view === "slow", false, "view after 5 without slow calls");
        return;
      }
      press(document.body, "5");
      same(page.view, "slow", "view after 5");
      slow.watches.forEach((watch, at) => {
        slow.choose(at);
        const said = byId("slow").querySelector(".sentences").textContent;
        same(said, watch.sentences.join(""), "sentences");
        watch.calls.forEach((call, at) => {
          slow.open(at);
          const { waterfall } = slow;
          same(byId("slow").querySelectorAll(".calls .current").length, 1, "chosen calls");
          same(byId("waterfall").hidden, call.spans === undefined, "a waterfall of what is not known");
          if (call.spans === undefined) {
            return;
          }
          slow.draw();
          const width = waterfall.place.clientWidth;
          const told = (boxes) => sum(boxes.map((box) => box.calls));
          waterfall.drawn.forEach((boxes, line) => {
            boxes.forEach((box, at) => {
              same(box.x >= 0 && box.x + box.width <= width + 1, true, `a box at ${box.x} of ${width}`);
              const next = boxes[at + 1];
              same(next === undefined || box.x <= next.x, true, "order of boxes");
            });
            same(told(boxes) <= sum(waterfall.lines[line].map((span) => span.calls)), true, "calls on a line");
          });
          near(waterfall.drawn[0][0].width, width, "the call itself");
          // Zooming at a position must keep the time at that position.
          const { left, top } = waterfall.canvas.getBoundingClientRect();
          // Positions in events are whole pixels.
          const mouse = { clientX: Math.floor(left + width * 0.75), clientY: top + AXIS_HEIGHT + 4, bubbles: true, cancelable: true };
          const wheel = (rest) => waterfall.place.dispatchEvent(new WheelEvent("wheel", { ...mouse, ...rest }));
          const before = waterfall.timeAt(mouse);
          wheel({ deltaY: -100 });
          same(waterfall.to - waterfall.from < call.ns, true, "shorter after the wheel");
          same(Math.abs(waterfall.timeAt(mouse) - before) <= call.ns * 1e-9, true, "time at the pointer");
          const begin = waterfall.from;
          wheel({ deltaY: -100, shiftKey: true });
          same(waterfall.from < begin, true, "earlier after shift and wheel");
          press(waterfall.place, "0");
          same(waterfall.to - waterfall.from, waterfall.whole, "all of it after 0");
          press(waterfall.place, "+");
          const zoomed = waterfall.from;
          const point = (type, x) =>
            waterfall.place.dispatchEvent(new PointerEvent(type, { ...mouse, clientX: mouse.clientX + x, pointerId: 1 }));
          waterfall.place.setPointerCapture = () => {};
          point("pointerdown", 0);
          point("pointermove", 60);
          same(waterfall.from < zoomed, true, "earlier after dragging to the right");
          point("pointerup", 60);
          press(waterfall.place, "0");
          slow.draw();
          const [first] = waterfall.drawn[0];
          same(waterfall.told(first, 0).startsWith(profile.label(first.fn)), true, "what is told of a call");
          point("pointerdown", 0);
          point("pointerup", 0);
          const chosen = page.selected < 0 ? undefined : page.tree.fn[page.selected];
          same(chosen, waterfall.drawn[0].find(({ x, width }) => x <= mouse.clientX - left && mouse.clientX - left < x + width).fn, "the function clicked on");
        });
        press(document.body, "J");
        press(document.body, "K");
        same(slow.opened, Math.max(watch.calls.length - 2, 0), "the call after J and K");
      });
      page.showView("tree");
    },
    "the time line tells each thread and each slot in words": () => {
      const { timeline } = page;
      const { data } = timeline;
      press(document.body, "6");
      same(page.view === "timeline", data !== undefined, "view after 6");
      same(byId("tab-timeline").hidden, data === undefined, "a tab without records");
      if (!data || timeline.rows.length === 0) {
        page.showView("tree");
        return;
      }
      const { lanes, said } = timeline;
      same(document.activeElement, lanes, "what has the keys");
      timeline.draw();
      timeline.loads.forEach((loads, row) => same(loads.length, data.begin.length, `slots of ${data.thread[row]}`));
      timeline.rows.forEach((lane, row) => {
        same(lane.getAttribute("aria-label").startsWith(`${data.thread[row]}: `), true, "a line for screen readers");
        same(lane.querySelector("b").textContent, data.thread[row], "the name");
        const [wide, all] = [lane.lastChild.clientWidth, lane.clientWidth];
        same(wide > all / 2 && lane.lastChild.offsetLeft + wide <= all, true, `a line of ${wide} in ${all}`);
      });
      press(lanes, "Home");
      while (timeline.row > 0) {
        press(lanes, "ArrowUp");
      }
      same(timeline.slot, 0, "the first slot");
      timeline.rows.forEach((lane, row) => {
        for (let slot = 0; slot < data.begin.length; slot++) {
          same([timeline.row, timeline.slot].join(), [row, slot].join(), "where the keys are");
          const load = timeline.loads[row][slot];
          const text = said.textContent;
          same(text.startsWith(data.thread[row]), true, "the thread");
          (load ? load.functions : []).forEach(([fn]) => same(text.includes(timeline.label(fn)), true, "a function"));
          same(text.includes("not in measured functions"), !load, "nothing");
          press(lanes, "ArrowRight");
        }
        same(timeline.slot, data.begin.length - 1, "the last slot");
        same(lanes.getAttribute("aria-activedescendant"), lane.id, "what is active");
        press(lanes, "Home");
        press(lanes, "ArrowDown");
      });
      // The pointer must find the same slots.
      const box = timeline.rows[0].lastChild.getBoundingClientRect();
      const pixels = data.length.map((length) => (length / data.ms) * box.width);
      data.begin.forEach((begin, slot) => {
        const middle = (begin + data.length[slot] / 2) / data.ms;
        // Positions in events are whole pixels.
        const mouse = { clientX: Math.round(box.left + middle * box.width), clientY: box.top + 5, bubbles: true };
        timeline.rows[0].lastChild.dispatchEvent(new MouseEvent("mousemove", mouse));
        same(byId("tip").hidden, false, "a text at the pointer");
        timeline.rows[0].lastChild.dispatchEvent(new MouseEvent("click", mouse));
        same(pixels[slot] < 3 || timeline.slot === slot, true, `slot ${timeline.slot} at the middle of ${slot}`);
        const { left, width } = timeline.moment.getBoundingClientRect();
        same(Math.abs(left - box.left - (data.begin[timeline.slot] / data.ms) * box.width) < 2 && width >= 2, true, "the mark");
        same(byId("tip").textContent, timeline.told(0, timeline.slot).join("\n"), "what both tell");
      });
      for (let slot = 1; slot < data.begin.length; slot++) {
        const [end, next] = [data.begin[slot - 1] + data.length[slot - 1], data.begin[slot]];
        same(next - end > 2 ? timeline.slotAt((end + next) / 2) : -1, -1, "a slot where nothing is known");
      }
      same(timeline.samples.length > 0 && timeline.samples.every((sample) => sample.style.background !== ""), true, "colours");
      const button = byId("timeline").querySelector(".colours button");
      button.click();
      same(page.view, "tree", "view after a function of the legend");
      same(profile.label(page.tree.fn[page.selected]), button.textContent, "its row");
    },
    "names are shown and not run": () => {
      same(document.querySelectorAll("script").length, 3, "scripts in the document");
      same(document.querySelectorAll("main img, main iframe, main svg").length, 0, "elements that a name made");
      page.unfoldAll(true);
      grid.shown.forEach((row, index) => {
        same(row.cells.function.querySelector(".label").textContent, profile.label(page.tree.fn[page.rows[index]]), "a name");
      });
      const wicked = page.rows.find((row) => profile.name(page.tree.fn[row]).includes("<"));
      if (wicked !== undefined) {
        page.select(wicked);
        page.details.draw();
        same(byId("details").textContent.includes(profile.name(page.tree.fn[wicked])), true, "its name in the details");
      }
      same(window.ran, undefined, "a script in a name");
    },
    "light and dark": () => {
      const ground = () => getComputedStyle(document.body).backgroundColor;
      const before = ground();
      press(document.body, "d");
      same(ground() === before, false, "other colours");
      press(document.body, "d");
      same(ground(), before, "the same again");
    },
    "the legend opens": () => {
      press(document.body, "?");
      same(byId("help").open, true, "open");
      byId("help").close();
      press(document.body, "m");
      same(byId("facts").open, true, "how it was measured");
      byId("facts").close();
      const groups = profile.data.group_rows || [];
      same(byId("groups").querySelectorAll("tbody tr").length, groups.length, "lines of groups");
      same(byId("groups-button").hidden, groups.length === 0, "a button for no groups");
    },
  };
}

// The texts that each row shows, for comparison with other reports.
function shownTable() {
  const line = (view, row) => {
    const texts = page.texts(row);
    const numbers = page.grids[view].columns.filter(({ id }) => id in texts && id !== "place" && id !== "errors");
    return [...numbers.map(({ id }) => texts[id]), page.profile.label(row.fn) + page.marks(row)].join("\t");
  };
  // Callers and callees with nanoseconds and calls, without calls of a function by itself.
  const graph = [...page.functions.keys()].slice(0, 50).flatMap((fn) => {
    const { callers, callees } = page.tree.graph(fn);
    const links = (name, list) =>
      list
        .filter((link) => link.fn !== fn)
        .map((link) => `graph\t${fn}\t${name}\t${link.fn}\t${link.total}\t${link.calls}\t${link.estimated ? "~" : ""}`);
    return [...links("from", callers), ...links("to", callees)];
  });
  // System calls in which threads wait in the top rows or below them.
  const waits = page.tree.waitsIn(page.tree.top).map(([call, samples]) => `waits\t${call}\t${samples}`);
  // Each row of the bottom-up tree, with the names on its path.
  const around = new BottomUp(page.straight);
  const callers = [];
  const stack = [...around.children(-1)];
  while (stack.length > 0 && callers.length < 300) {
    const row = stack.shift();
    const path = around.path(row).map((at) => around.fn[at]);
    callers.push(`callers\t${path.join(" ")}\t${around.total[row]}\t${around.self[row]}\t${around.calls[row]}\t${around.estimated[row]}`);
    stack.push(...around.children(row));
  }
  return [
    ...callers,
    ...graph,
    ...waits,
    ...page.rows.map((row) => `tree\t${line("tree", page.treeRow(row))}`),
    ...page.listed.map((row) => `hot\t${line("hot", row)}`),
  ].join("\n");
}

const outcome = [];
for (const [name, check] of Object.entries(checks())) {
  try {
    check();
    outcome.push(`ok ${name}`);
  } catch (error) {
    outcome.push(`FAILED ${name}: ${error.message}`);
    if (page.inverted) {
      page.turnRound();
    }
  }
}
const report = element("pre", "", `${outcome.join("\n")}\n${shownTable()}\n`);
report.id = "outcome";
document.body.append(report);
