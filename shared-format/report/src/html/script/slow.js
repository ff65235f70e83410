// Slow calls of watched functions: why they are slow, and the traces of some of them.

const SLOW_TITLES = ["DIFFERENCE", "SHARE", "TYPICAL", "SLOW", "CALLS", "PATH"];
const CALL_TITLES = ["BEGAN", "TOOK", "THREAD", "WHAT IT WAS", "NOTES"];

class Slow {
  constructor(place, owner) {
    this.owner = owner;
    this.watches = owner.profile.data.slow || [];
    this.part = (name) => place.querySelector(`.${name}`);
    this.waterfall = new Waterfall(byId("waterfall"), byId("waterfall").querySelector("canvas"), {
      label: (fn) => owner.profile.label(fn),
      colours: (most) => new Colours(most),
      hover: (text, event) => owner.tip(text, event),
      click: (fn) => owner.selectFunction(fn),
    });
    const functions = byId("slow-function");
    functions.append(...this.watches.map((watch, at) => option(String(at), watch.function)));
    functions.addEventListener("change", () => this.choose(Number(functions.value)));
    functions.parentElement.hidden = this.watches.length < 2;
    const button = (id, act) => byId(id).addEventListener("click", act);
    button("closer", () => this.waterfall.zoom(CLOSER));
    button("further", () => this.waterfall.zoom(1 / CLOSER));
    button("whole", () => this.waterfall.show(0, this.waterfall.whole));
    byId("tab-slow").hidden = this.watches.length === 0;
    if (this.watches.length > 0) {
      this.choose(owner.profile.data.opens_slow || 0);
    }
  }

  // Shows another watched function.
  choose(at) {
    this.watch = this.watches[at];
    byId("slow-function").value = String(at);
    const { sentences, rows, other_rows: others, calls } = this.watch;
    this.part("sentences").replaceChildren(...sentences.map((text) => element("p", "", text)));
    const more = others > 0 ? [["", "", "", "", "", `and ${others} other ${others === 1 ? "path" : "paths"}`]] : [];
    this.part("paths").replaceChildren(...tableParts(SLOW_TITLES, [...rows, ...more]));
    this.part("paths").hidden = rows.length === 0;
    const lines = calls.map((call) => {
      const notes = (call.notes || []).map(([, text]) => text).join(" ");
      return [call.began, shortTime(call.ns), call.thread, call.cause, notes];
    });
    const table = this.part("calls");
    table.replaceChildren(...tableParts(CALL_TITLES, lines));
    table.querySelectorAll("tbody tr").forEach((row, at) => {
      row.addEventListener("click", () => this.open(at));
    });
    this.part("kept").hidden = calls.length === 0;
    this.open(0);
  }

  // Shows the trace of another slow call.
  open(at) {
    const { calls, paths } = this.watch;
    this.opened = Math.min(Math.max(at, 0), Math.max(calls.length - 1, 0));
    const call = calls[this.opened];
    this.part("calls").querySelectorAll("tbody tr").forEach((row, index) => {
      row.classList.toggle("current", index === this.opened);
      row.setAttribute("aria-selected", index === this.opened);
    });
    const isKnown = call !== undefined && call.spans !== undefined;
    byId("waterfall").hidden = !isKnown;
    byId("zoom-slow").classList.toggle("nothing", !isKnown);
    this.part("said").textContent = call === undefined ? "" : Slow.said(call, this.watch);
    byId("waterfall").setAttribute("aria-label", call === undefined ? "" : `${this.watch.function}, ${shortTime(call.ns)}: ${call.cause}`);
    this.waterfall.open(isKnown ? call : null, paths);
  }

  // Returns the text next to the trace of a slow call.
  static said(call, watch) {
    if (call.spans === undefined) {
      return "What happened in this call is not in this page: snapshots take turns in having it. tickscope why -f html looks back for all of them.";
    }
    const said = [];
    if (call.merged) {
      const [all, shown] = call.merged;
      const rest = all > shown ? `, ${digits(all - shown)} are too short for a place` : "";
      said.push(
        `Short neighbours are merged: ${digits(all)} calls are ${digits(call.spans.length / 4)} blocks${rest}. ` +
          `tickscope why ${watch.function} -f trace --call ${call.number} has each.`,
      );
    }
    if (call.off_left_out) {
      said.push(`${digits(call.off_left_out)} shorter stretches off the CPU are left out.`);
    }
    if (call.gap) {
      said.push(`${digits(call.gap[2])} steps were not kept by the program.`);
    }
    return said.join(" ");
  }

  draw() {
    this.waterfall.draw();
  }
}
