"use strict";
// Formats numbers as in the text report: whole numbers of any length, rounded once, halves up.

const US = 1000n;
const MS = 1000n * US;
const S = 1000n * MS;
const MINUTE = 60n * S;
const HOUR = 60n * MINUTE;
const DAY = 24n * HOUR;
const YEAR = 365n * DAY;

// Maximum in seconds. Longer times are easier to read in minutes.
const LAST_SECONDS = 299n;

function rounded(value, unit) {
  return value / unit + (value % unit >= unit - unit / 2n ? 1n : 0n);
}

// Formats `value` in `unit`s with three digits; null if it rounds to more than `last` units.
function threeDigits(value, unit, name, last) {
  const hundredths = rounded(value, unit / 100n);
  if (hundredths <= 999n) {
    return hundredths / 100n + "." + String(hundredths % 100n).padStart(2, "0") + name;
  }
  const tenths = rounded(value, unit / 10n);
  if (tenths <= 999n) {
    return tenths / 10n + "." + (tenths % 10n) + name;
  }
  const whole = rounded(value, unit);
  return whole <= last ? whole + name : null;
}

// Nanoseconds as `412ns`, `1.90µs`, `41.3s`, `9m21s`, `3h04m`, `12d3h`, `128d`, `2.50y`.
function duration(value) {
  const ns = BigInt(value);
  if (ns < US) {
    return ns + "ns";
  }
  return (
    threeDigits(ns, US, "µs", 999n) ||
    threeDigits(ns, MS, "ms", 999n) ||
    threeDigits(ns, S, "s", LAST_SECONDS) ||
    longDuration(ns)
  );
}

function longDuration(ns) {
  const two = (n) => String(n).padStart(2, "0");
  const seconds = rounded(ns, S);
  if (seconds < 3600n) {
    return seconds / 60n + "m" + two(seconds % 60n) + "s";
  }
  const minutes = rounded(ns, MINUTE);
  if (minutes < 1440n) {
    return minutes / 60n + "h" + two(minutes % 60n) + "m";
  }
  const hours = rounded(ns, HOUR);
  if (hours < 2400n) {
    return hours / 24n + "d" + (hours % 24n) + "h";
  }
  const days = rounded(ns, DAY);
  if (days < 365n) {
    return days + "d";
  }
  return threeDigits(ns, YEAR, "y", 584n) || "584y";
}

// Formats a duration with two digits, which is what a histogram knows.
function twoDigits(value) {
  const ns = BigInt(value);
  const unit = 10n ** BigInt(Math.max(0, String(ns).length - 2));
  const two = rounded(ns, unit) * unit;
  const inUnit = (unit, name) => {
    const whole = two / unit;
    return whole < 10n ? whole + "." + (two % unit) / (unit / 10n) + name : whole + name;
  };
  if (two < US) {
    return two + "ns";
  }
  if (two < MS) {
    return inUnit(US, "µs");
  }
  if (two < S) {
    return inUnit(MS, "ms");
  }
  return two / S <= LAST_SECONDS ? inUnit(S, "s") : duration(ns);
}

// A count as `999`, `1.34k`, `8.41M`, `18.4E`.
function count(value) {
  const n = BigInt(value);
  if (n < 1000n) {
    return String(n);
  }
  let unit = 1n;
  for (const name of "kMGTPE") {
    unit *= 1000n;
    const text = threeDigits(n, unit, name, 999n);
    if (text) {
      return text;
    }
  }
  return String(n);
}

// Bytes as `999B`, `1.34kB`; a kilobyte is 1 000 bytes.
function bytes(value) {
  return count(value) + "B";
}

// A quotient as `0`, `<0.01`, `0.25`, `12.3`, and from 100 on like a count.
function quotient(value, per) {
  const [n, parts] = [BigInt(value), BigInt(per)];
  const times = (unit) => (n * unit + parts / 2n) / parts;
  const [hundredths, tenths] = [times(100n), times(10n)];
  if (n === 0n) {
    return "0";
  }
  if (hundredths === 0n) {
    return "<0.01";
  }
  if (hundredths <= 999n) {
    return hundredths / 100n + "." + String(hundredths % 100n).padStart(2, "0");
  }
  return tenths <= 999n ? tenths / 10n + "." + (tenths % 10n) : count(rounded(n, parts));
}

// A share from 0 to 1 as `0.0%` to `100.0%`.
function percent(share) {
  if (!(share > 0)) {
    return "0.0%";
  }
  const hundred = Math.min(share, 1) * 100;
  // An exact half of a tenth is rounded to the even tenth, as in the text report; toFixed would round it up.
  if ((hundred * 4) % 2 === 1) {
    return Math.floor(hundred) + (hundred % 1 === 0.25 ? ".2%" : ".8%");
  }
  return hundred.toFixed(1) + "%";
}

function digits(value) {
  return String(BigInt(value)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}
