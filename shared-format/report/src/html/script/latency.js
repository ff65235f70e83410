// Latency histograms. A bucket is an eighth of an octave; bounds are in ticks.

const PER_OCTAVE = 8;
const QUANTILES = [
  ["p50", 0.5],
  ["p90", 0.9],
  ["p99", 0.99],
  ["p99.9", 0.999],
];

function edge(bucket) {
  return Math.ceil(((8 + (bucket % PER_OCTAVE)) * 2 ** Math.floor(bucket / PER_OCTAVE)) / 8);
}

const lowerEdge = edge;

function upperEdge(bucket) {
  return Math.max(edge(bucket + 1) - 1, edge(bucket));
}

// Buckets with at least one call, in rising order. `max` is 0 if the longest call is not known exactly.
class Histogram {
  constructor(max = 0, buckets = []) {
    this.max = max;
    this.buckets = buckets;
  }

  // Reads a row of the data: node, longest call, then pairs of bucket and count.
  static of(row) {
    const buckets = [];
    for (let at = 2; at < row.length; at += 2) {
      buckets.push([row[at], row[at + 1]]);
    }
    return new Histogram(row[1], buckets);
  }

  // Merges histograms. The longest call is exact if it is exact in all histograms with calls in the highest bucket.
  static merged(all) {
    const counts = new Map();
    let highest = -1;
    for (const { buckets } of all) {
      for (const [bucket, calls] of buckets) {
        counts.set(bucket, (counts.get(bucket) || 0) + calls);
        highest = Math.max(highest, bucket);
      }
    }
    const top = all.filter(({ buckets }) => buckets.length > 0 && buckets[buckets.length - 1][0] === highest);
    const known = top.every(({ max }) => max > 0);
    const max = known ? top.reduce((most, { max }) => Math.max(most, max), 0) : 0;
    return new Histogram(
      max,
      [...counts].sort(([a], [b]) => a - b),
    );
  }

  get calls() {
    return this.buckets.reduce((sum, [, calls]) => sum + calls, 0);
  }

  // The duration in ticks that `share` of the calls did not exceed; null without finished calls.
  quantile(share) {
    const bucket = this.bucketOf(share);
    if (bucket === null) {
      return null;
    }
    const middle = Math.floor((lowerEdge(bucket) + upperEdge(bucket)) / 2);
    return this.max === 0 ? middle : Math.min(middle, this.max);
  }

  // The bucket that contains this quantile.
  bucketOf(share) {
    const calls = this.calls;
    const rank = Math.min(Math.max(Math.ceil(share * calls), 1), Math.max(calls, 1));
    let seen = 0;
    for (const [bucket, count] of this.buckets) {
      seen += count;
      if (seen >= rank) {
        return bucket;
      }
    }
    return null;
  }

  // The longest call in ticks, and whether that is exact; null without finished calls.
  longest() {
    if (this.buckets.length === 0) {
      return null;
    }
    const [highest] = this.buckets[this.buckets.length - 1];
    return this.max === 0 ? [upperEdge(highest), false] : [this.max, true];
  }
}
