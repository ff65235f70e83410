// Texts for rows without time: counters, values and gauges. Their numbers are not durations.

// Smallest and largest number in a bucket of a value.
function valueEdges(bucket) {
  return bucket < 2 ? [bucket, bucket] : [lowerEdge(bucket), upperEdge(bucket)];
}

const levelText = (level) => (level < 0 ? "-" : "") + count(Math.abs(level));

// Formats a bound after its sign, rounded outward. It has three digits, or two if three do not fit into `cells`.
function bounded(sign, number, up, cells) {
  const size = BigInt(Math.abs(number));
  const text = (digits) => {
    const unit = 10n ** BigInt(Math.max(0, String(size).length - digits));
    const away = up === number >= 0 && size % unit > 0n;
    return sign + (number < 0 ? "-" : "") + count((size / unit + (away ? 1n : 0n)) * unit);
  };
  const three = text(3);
  // In `1.30k` and `13.0k`, the last zero has no information.
  return three.length <= cells ? three : text(2).replace(/\.?0(?=\D*$)/, (zero, at, all) => (all.includes(".") ? "" : zero));
}

class Tally {
  constructor(kind, sum, range = null, level = null) {
    Object.assign(this, { kind, sum, range, level });
  }

  // Reads a row of the data: node, smallest, largest, whether each is exact; for a gauge also level and tick.
  static of(kind, sum, [, min, max, minExact, maxExact, last, tick]) {
    const range = min === undefined ? null : { min, max, minExact: minExact === 1, maxExact: maxExact === 1 };
    return new Tally(kind, sum, range, last === undefined ? null : { last, tick });
  }

  // Adds another tally. Tallies of different kinds only keep a sum.
  and(other) {
    if (this.kind === "nothing" || other.kind === "nothing") {
      return this.kind === "nothing" ? other : this;
    }
    const sum = this.sum + other.sum;
    if (this.kind !== other.kind) {
      return new Tally("counter", sum);
    }
    const level = this.level && other.level ? (other.level.tick >= this.level.tick ? other.level : this.level) : this.level || other.level;
    return new Tally(this.kind, sum, bothRanges(this.range, other.range), level);
  }

  get sign() {
    return this.kind === "gauge" ? "=" : "Σ";
  }

  // Text in place of a scope's main time.
  main(sumText) {
    return this.kind !== "gauge" ? sumText(this.sum) : this.level ? levelText(this.level.last) : "-";
  }

  mean(calls) {
    return this.kind === "value" && calls > 0 ? quotient(this.sum, calls) : "-";
  }

  // The number that `share` of a value's numbers did not exceed; null for other rows.
  quantile(histogram, share) {
    const bucket = this.kind === "value" ? histogram.bucketOf(share) : null;
    if (bucket === null) {
      return null;
    }
    const [from, to] = valueEdges(bucket);
    const middle = from + Math.floor((to - from) / 2);
    return this.range ? Math.min(Math.max(middle, this.range.min), this.range.max) : middle;
  }

  least(sign = "≥") {
    return this.range ? bounded(sign, this.range.min, false, 6) : "-";
  }

  most(sign = "<=") {
    if (!this.range) {
      return "-";
    }
    return this.range.maxExact ? levelText(this.range.max) : bounded(sign, this.range.max, true, 7);
  }
}

const NOTHING = new Tally("nothing", 0);

function bothRanges(one, other) {
  if (!one || !other) {
    return one || other;
  }
  const [min, max] = [Math.min(one.min, other.min), Math.max(one.max, other.max)];
  const both = [one, other];
  return {
    min,
    max,
    minExact: both.some((range) => range.min === min && range.minExact),
    maxExact: both.some((range) => range.max === max && range.maxExact),
  };
}

// The tally of two parts of a row; null if one of them is a scope.
const bothTallies = (one, other) => (one === null || other === null ? null : one.and(other));
