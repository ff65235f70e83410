// The columns of the tables, and by which value each column sorts.

const column = (id, title, kind, width, explained) => ({ id, title, kind, width, explained });

function columns(profile, inTree) {
  const total = [
    column("share", "%TOT", "number", "6.5ch", "Share with callees, of all inside scopes or of the parent"),
    column("total", "TOTAL", "number", "7ch", "Time, or the chosen measure, with callees"),
  ];
  const own = [
    column("self", "SELF", "number", "7ch", "Time, or the chosen measure, in the function alone"),
    column("selfShare", "%SELF", "number warm", "6.5ch", "Share in the function alone, of all inside scopes or of the parent"),
  ];
  const offCpu = [
    column("wait", "WAIT", "number minor", "7ch", "Part of the time with callees in which threads could not have run"),
    column("ready", "READY", "number minor", "7ch", "Part of the time with callees in which threads could have run and had no CPU"),
  ];
  const latencies = [
    column("p50", "P50", "number minor", "6ch", "Half of the finished calls took no longer"),
    column("p99", "P99", "number minor", "6ch", "99 of 100 finished calls took no longer"),
    column("max", "MAX", "number minor", "7ch", "The longest finished call; <= where only a bound is known, >= where not every call was timed"),
  ];
  const all = [
    ...(inTree ? [...total, ...own] : [own[1], own[0], total[1], total[0]]),
    ...(profile.data.wait_columns ? offCpu : []),
    column("calls", "CALLS", "number", "5.5ch", "Calls begun since the reset; ~ where the function was sampled and not counted"),
    column("average", "AVG", "number", "7ch", "TOTAL / CALLS"),
    ...(profile.latency.size > 0 || profile.data.gauges ? latencies : []),
    ...(inTree && profile.errors.size > 0 ? [column("errors", "ERR", "number", "5ch", "Clock errors")] : []),
    column("bar", "", "bar-cell", "minmax(72px, 0.3fr)", "Length: %TOT; coloured part: %SELF"),
    column("function", "FUNCTION", "function", "minmax(0, 1fr)", "Name; • open now, † doubtful; with Σ a counter or a value: what it added up, with = the level of a gauge; no time"),
  ];
  return inTree ? all : [...all, column("place", "WHERE", "place", "minmax(0, 0.7fr)", "Where it stands in the source")];
}

// Lists of functions are sorted by time on a CPU, so that joins and parks do not come first.
const onCpu = (row, page) => (page.profile.measure === "time" ? row.self - (row.selfOff || 0) : row.self);

// The value by which each column sorts. Rows with null come last in both orders.
const SORT_VALUES = {
  share: (row) => row.total,
  total: (row) => row.total,
  bar: (row) => row.total,
  self: onCpu,
  selfShare: onCpu,
  wait: (row) => row.off[0],
  ready: (row) => row.off[1],
  calls: (row) => row.calls,
  average: (row, page) => {
    const isWall = row.futures > 0 && page.profile.measure === "time";
    const [value, calls] = isWall ? [row.wall, row.over] : [page.profile.counted(row), row.calls];
    return calls > 0 ? value / calls : null;
  },
  errors: (row) => row.errors,
  // Numbers of values are not times, so they are not compared.
  p50: (row, page) => (row.tally ? null : page.latencyOf(row).quantile(0.5)),
  p99: (row, page) => (row.tally ? null : page.latencyOf(row).quantile(0.99)),
  max: (row, page) => (row.tally ? null : (page.latencyOf(row).longest() || [null])[0]),
  function: (row, page) => page.profile.data.rank[row.fn],
  place: (row, page) => page.profile.place(row.fn),
};

// If names get less than this share of the width, columns are left out, least important first.
const NAME_SHARE = 0.4;
const LEAVING = ["place", "ready", "wait", "p50", "max", "p99", "errors"];
const LEAVING_TREE = [...LEAVING, "selfShare", "average", "calls", "self"];
const LEAVING_HOT = [...LEAVING, "share", "average", "total", "calls"];

// Narrower tables, as on phones, have names first, higher rows, and bars below the text.
const NARROW_BELOW = 560;
const NARROW_NAME_SHARE = 0.5;

const fromA = (id) => id === "function" || id === "place";

function compare(a, b) {
  if (a === b) {
    return 0;
  }
  if (a === null || b === null) {
    return a === null ? 1 : -1;
  }
  return a < b ? -1 : 1;
}
