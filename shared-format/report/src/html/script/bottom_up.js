// The bottom-up tree: functions at the top, their callers below them, and so on.

// The total of a row is the self time that its topmost function spent on this path. Calls and latencies are that function's too.
// The self time of a row is the part without a further caller. Deep stacks have very many callers, so they are looked up only
// when needed.
class BottomUp extends Rows {
  constructor(source) {
    super(source.profile, source.thread);
    this.source = source;
    this.measured = source.measured;
    this.allCalls = source.allCalls;
    for (const column of ["parent", "fn", "depth", "calls", "self", "total", "open", "errors", "futures", "over", "wall", "sampled", "tally", "estimated"]) {
      this[column] = [];
    }
    this.off = [[], []];
    // Source rows behind each row, and the ancestor up to which the callers of each were followed.
    this.members = [];
    this.reached = [];
    this.below = [];
    this.isOutermost = new Uint8Array(source.length);
    source.functions().forEach(({ outermost }) => outermost.forEach((row) => (this.isOutermost[row] = 1)));
    const all = Int32Array.from({ length: source.length }, (_, row) => row);
    this.top = this.split(-1, all, all);
    this.topOf = new Map(this.top.map((row) => [this.fn[row], row]));
  }

  get length() {
    return this.fn.length;
  }

  children(row) {
    if (row < 0) {
      return this.top;
    }
    this.below[row] = this.below[row] || this.split(row, this.members[row], this.reached[row].map((at) => this.source.parent[at]));
    return this.below[row];
  }

  // Colours show self time of the topmost function, which is the row's total.
  own(row) {
    return this.total[row];
  }

  nodesOf(row) {
    return this.members[row].flatMap((member) => [...this.source.nodesOf(member)]);
  }

  // Makes one row for each function that members have reached. Members without a further caller get no row.
  split(parent, members, reached) {
    const groups = new Map();
    members.forEach((member, index) => {
      const at = reached[index];
      if (at >= 0) {
        const fn = this.source.fn[at];
        const group = groups.get(fn) || [[], []];
        group[0].push(member);
        group[1].push(at);
        groups.set(fn, group);
      }
    });
    return [...groups].map(([fn, group]) => this.push(parent, fn, ...group));
  }

  push(parent, fn, members, reached) {
    const { source } = this;
    const row = this.fn.length;
    const sum = (column) => members.reduce((sum, member) => sum + column[member], 0);
    const uncertain = new Uncertainty();
    this.parent.push(parent);
    this.fn.push(fn);
    this.depth.push(parent < 0 ? 0 : this.depth[parent] + 1);
    this.members.push(members);
    this.reached.push(reached);
    for (const column of ["calls", "errors", "futures", "over", "wall", "sampled"]) {
      this[column].push(sum(source[column]));
    }
    this.total.push(sum(source.self));
    this.off.forEach((column, which) => column.push(sum(source.ownOff[which])));
    this.tally.push(members.reduce((tally, member) => bothTallies(tally, source.tally[member]), NOTHING));
    let [own, open] = [0, 0];
    members.forEach((member, index) => {
      const isTop = source.parent[reached[index]] < 0;
      own += isTop ? source.self[member] : 0;
      open += this.isOutermost[member] ? source.open[member] : 0;
      const { bits, errors } = source.uncertain[member];
      uncertain.add({ bits: bits & 1 ? 3 : 0, errors: [errors[0], errors[0]] }, isTop ? 3 : 2);
    });
    this.self.push(own);
    this.open.push(open);
    this.estimated.push(uncertain.rough(this.profile, own, this.total[row]));
    return row;
  }
}
